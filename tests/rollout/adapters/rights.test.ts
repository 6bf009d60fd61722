import type { Right } from "../../../rollout";
import { KubeAdapter } from "../../../rollout/adapters";
import { FakeApiServer, failure, type SeenRequest } from "./fake-api-server";

const RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

const right = (verb: string, resource: string, group = "", namespace: string | undefined = "db"): Right => ({
  verb,
  resource,
  group,
  namespace,
});

let api: FakeApiServer;
let kube: KubeAdapter;

beforeEach(async () => {
  api = new FakeApiServer();
  await api.start();
  kube = new KubeAdapter({ kubeconfig: api.kubeconfig });
});

afterEach(() => api.stop());

function allow(rules: object[], decide: (attributes: Record<string, string>) => boolean = () => false): void {
  api.on("POST", RULES, { body: { status: { resourceRules: rules, incomplete: false } } });
  api.on("POST", ACCESS, ({ body }: SeenRequest) => {
    const { spec } = body as { spec: { resourceAttributes: Record<string, string> } };
    return { body: { status: { allowed: decide(spec.resourceAttributes) } } };
  });
}

test("what the rules of the namespace name is asked for in one request", async () => {
  allow([
    { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "secrets"] },
    { verbs: ["create"], apiGroups: ["*"], resources: ["pods/eviction"] },
  ]);
  const rights = [right("get", "pods"), right("list", "secrets"), right("create", "pods/eviction")];
  expect(await kube.missingRights(rights)).toEqual([]);
  expect(api.asked("POST", RULES)).toHaveLength(1);
  expect(api.asked("POST", ACCESS)).toEqual([]);
});

test.each([
  ["another verb", { verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
  ["another group", { verbs: ["*"], apiGroups: ["apps"], resources: ["pods"] }],
  ["a subresource", { verbs: ["*"], apiGroups: [""], resources: ["pods/log"] }],
  ["single names", { verbs: ["*"], apiGroups: [""], resources: ["pods"], resourceNames: ["etcd-0"] }],
])("rules for %s do not cover it", async (_, rule) => {
  allow([rule]);
  expect(await kube.missingRights([right("delete", "pods")])).toEqual([right("delete", "pods")]);
});

test("what the rules do not name may still be allowed, by another authorizer", async () => {
  allow([], ({ resource, subresource }) => resource === "pods" && subresource === "eviction");
  const rights = [right("create", "pods/eviction"), right("get", "pods")];
  expect(await kube.missingRights(rights)).toEqual([right("get", "pods")]);
});

test("a right in the whole cluster is not taken from the rules of a namespace", async () => {
  allow([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
  const wanted: Right = { verb: "get", group: "cert-manager.io", resource: "clusterissuers" };
  expect(await kube.missingRights([wanted, right("get", "pods")])).toEqual([wanted]);
  const attributes = { group: "cert-manager.io", resource: "clusterissuers", verb: "get" };
  expect(api.asked("POST", ACCESS)[0]?.body).toMatchObject({ spec: { resourceAttributes: attributes } });
});

test("an API server that does not answer the question is an error", async () => {
  api.on("POST", RULES, failure(401, "Unauthorized"));
  await expect(kube.missingRights([right("get", "pods")])).rejects.toThrow(/log in again/);
});
