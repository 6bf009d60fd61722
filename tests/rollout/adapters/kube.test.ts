import { KubeAdapter, KubeError } from "../../../rollout/adapters";
import { freePort } from "./etcd-process";
import { FakeApiServer, failure } from "./fake-api-server";

let api: FakeApiServer;
let kube: KubeAdapter;

beforeEach(async () => {
  api = new FakeApiServer();
  await api.start();
  kube = new KubeAdapter({ kubeconfig: api.kubeconfig }, { timeoutMs: 1_000, retryBudgetMs: 3_000 });
});

afterEach(() => api.stop());

const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "trust", namespace: "db" },
  data: { ca: "x" },
};
const configMapPath = "/api/v1/namespaces/db/configmaps/trust";
const evictionPath = "/api/v1/namespaces/db/pods/etcd-0/eviction";

async function errorOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
}

describe("apply", () => {
  test("is a forced server-side apply under the shared field manager", async () => {
    api.on("PATCH", configMapPath, { body: { ...configMap, metadata: { ...configMap.metadata, uid: "1" } } });
    expect(await kube.apply(configMap)).toMatchObject({ metadata: { uid: "1" } });
    const [request] = api.asked("PATCH", configMapPath);
    expect(request!.headers).toMatchObject({
      "content-type": "application/apply-patch+yaml",
      authorization: "Bearer s3cr3t-token",
    });
    expect(request!.query).toEqual({ fieldManager: "pulumi-etcd", force: "true" });
    expect(request!.body).toEqual(configMap);
  });

  test("as a dry run it says so to the server", async () => {
    api.on("PATCH", configMapPath, { body: configMap });
    await kube.apply(configMap, { dryRun: true });
    expect(api.asked("PATCH", configMapPath)[0]!.query).toMatchObject({ dryRun: "All" });
  });

  test("of a kind that is not served names the kind and what to do", async () => {
    const petSet = {
      apiVersion: "apps.k8s.appscode.com/v1",
      kind: "PetSet",
      metadata: { name: "etcd", namespace: "db" },
    };
    const error = await errorOf(kube.apply(petSet));
    expect(error.reason).toBe("NotFound");
    expect(error.message).toContain("apply PetSet db/etcd");
    expect(error.message).toContain("CustomResourceDefinition");
  });

  test("a kind whose definition is installed later is found then", async () => {
    expect(await kube.serves("apps.k8s.appscode.com/v1", "PetSet")).toBe(false);
    const resources = [{ name: "petsets", kind: "PetSet", namespaced: true }];
    api.on("GET", "/apis/apps.k8s.appscode.com/v1", { body: { resources } });
    expect(await kube.serves("apps.k8s.appscode.com/v1", "PetSet")).toBe(true);
  });
});

describe("errors", () => {
  test.each([
    [403, "Forbidden"],
    [401, "Unauthorized"],
    [409, "Conflict"],
    [422, "Invalid"],
    [404, "NotFound"],
    [418, "Other"],
  ] as const)("status %d is %s, with server, verb, object and the server's words", async (status, reason) => {
    api.on("PATCH", configMapPath, failure(status, "said the server"));
    const error = await errorOf(kube.apply(configMap));
    expect(error).toMatchObject({ reason, status });
    expect(error.message).toContain(
      `${api.address}: apply ConfigMap db/trust: ${reason} (${status}): said the server.`,
    );
    expect(error.message).not.toContain("s3cr3t");
    expect(api.asked("PATCH", configMapPath)).toHaveLength(1);
  });

  test("a right that is missing is told with the manifest that has it", async () => {
    const words = 'configmaps "trust" is forbidden: User "ci" cannot patch resource "configmaps" in API group ""';
    api.on("PATCH", configMapPath, failure(403, words));
    const { message } = await errorOf(kube.apply(configMap));
    expect(message).toContain(words);
    expect(message).toContain("as stacks/rbac.yaml of pulumi-etcd does");
  });

  test("about a Secret never quote its content", async () => {
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "tls", namespace: "db" },
      data: { "tls.key": "a2V5" },
    };
    const words = "illegal value a2V5, error found in #10 byte of ...|a2V|..., bigger context ...|a2V5|...";
    api.on("PATCH", "/api/v1/namespaces/db/secrets/tls", failure(400, words));
    const error = await errorOf(kube.apply(secret));
    expect(error.message).toContain("illegal value [secret].");
    expect(error.message).not.toContain("a2V");
  });

  test("a field of the wrong type is invalid, at once, although the server says 500", async () => {
    const words = "failed to create typed patch object: .data.a: expected string, got map[x:hunter2]";
    api.on("PATCH", "/api/v1/namespaces/db/secrets/tls", failure(500, words));
    const metadata = { name: "tls", namespace: "db" };
    const error = await errorOf(
      kube.apply({ apiVersion: "v1", kind: "Secret", metadata, data: { a: { x: "hunter2" } } }),
    );
    expect(error.reason).toBe("Invalid");
    expect(error.message).not.toContain("hunter2");
    expect(api.asked("PATCH", "/api/v1/namespaces/db/secrets/tls")).toHaveLength(1);
  });

  test("a server that is not there is unreachable, by its address, at once", async () => {
    const port = await freePort();
    const kubeconfig = api.kubeconfig.replace(api.address, `http://127.0.0.1:${port}`);
    const started = Date.now();
    const error = await errorOf(new KubeAdapter({ kubeconfig }).ping());
    expect(Date.now() - started).toBeLessThan(1_000);
    expect(error.reason).toBe("Unreachable");
    expect(error.message).toContain(`http://127.0.0.1:${port}`);
  });

  test("a silent server is unreachable to a ping, and a timeout to a call", async () => {
    api.on("GET", "/version", { silent: true });
    expect((await errorOf(kube.ping())).reason).toBe("Unreachable");
    api.on("GET", configMapPath, { silent: true });
    const started = Date.now();
    expect((await errorOf(kube.configMapData("db", "trust"))).reason).toBe("Timeout");
    expect(Date.now() - started).toBeLessThan(4_500);
  });
});

describe("retries", () => {
  test.each([
    ["a broken connection", { reset: true }],
    ["429 with Retry-After", failure(429, "busy", { "retry-after": "0" })],
    ["500", failure(500, "leader changed")],
    ["503", failure(503, "starting")],
    ["504", failure(504, "timeout")],
  ])("%s is tried again", async (_, first) => {
    api.on("PATCH", configMapPath, first, first, { body: configMap });
    await kube.apply(configMap);
    expect(api.asked("PATCH", configMapPath)).toHaveLength(3);
  });

  test("are bounded", async () => {
    api.on("PATCH", configMapPath, failure(503, "starting"));
    const started = Date.now();
    expect((await errorOf(kube.apply(configMap))).status).toBe(503);
    expect(Date.now() - started).toBeLessThan(3_500);
  });

  test("a Retry-After beyond the budget is not waited for", async () => {
    api.on("PATCH", configMapPath, failure(429, "busy", { "retry-after": "60" }));
    const started = Date.now();
    expect((await errorOf(kube.apply(configMap))).status).toBe(429);
    expect(Date.now() - started).toBeLessThan(1_000);
  });
});

describe("evict", () => {
  const podPath = "/api/v1/namespaces/db/pods/etcd-0";
  const livePod = (uid: string) => ({ body: { metadata: { name: "etcd-0", uid } } });

  beforeEach(() => api.on("GET", podPath, livePod("u1")));

  test("goes to the Eviction API with the uid as precondition", async () => {
    api.on("POST", evictionPath, { status: 201 });
    expect(await kube.evict("db", "etcd-0", "u1")).toBe("evicted");
    expect(api.asked("POST", evictionPath)[0]!.body).toEqual({
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "etcd-0", namespace: "db" },
      deleteOptions: { preconditions: { uid: "u1" } },
    });
  });

  test("is blocked by a disruption budget, at once", async () => {
    api.on("POST", evictionPath, failure(429, "Cannot evict pod as it would violate the pod's disruption budget."));
    expect(await kube.evict("db", "etcd-0", "u1")).toBe("blocked");
    expect(api.asked("POST", evictionPath)).toHaveLength(1);
  });

  test("a pod that is not there, or is another one by now, is gone without spending the budget", async () => {
    api.on("GET", podPath, livePod("u2"));
    expect(await kube.evict("db", "etcd-0", "u1")).toBe("gone");
    api.on("GET", podPath, failure(404, 'pods "etcd-0" not found'));
    expect(await kube.evict("db", "etcd-0", "u1")).toBe("gone");
    expect(api.asked("POST", evictionPath)).toHaveLength(0);
  });

  test("a pod that goes in that very moment is gone", async () => {
    api.on("POST", evictionPath, failure(404, 'pods "etcd-0" not found'));
    expect(await kube.evict("db", "etcd-0", "u1")).toBe("gone");
    api.on("GET", podPath, livePod("u1"), livePod("u2"));
    api.on("POST", evictionPath, failure(409, "Precondition failed: UID in precondition: u1, UID in object meta: u2"));
    expect(await kube.evict("db", "etcd-0", "u1")).toBe("gone");
  });

  test("a conflict over the same pod is an error", async () => {
    api.on("POST", evictionPath, failure(409, "the object has been modified"));
    expect((await errorOf(kube.evict("db", "etcd-0", "u1"))).reason).toBe("Conflict");
  });

  test("two budgets over one pod are an error, at once", async () => {
    api.on("POST", evictionPath, failure(500, "This pod has more than one PodDisruptionBudget"));
    expect((await errorOf(kube.evict("db", "etcd-0", "u1"))).message).toContain("more than one PodDisruptionBudget");
    expect(api.asked("POST", evictionPath)).toHaveLength(1);
  });
});

test("annotations are merged into a pod's own", async () => {
  api.on("PATCH", "/api/v1/namespaces/db/pods/etcd-0", { body: {} });
  await kube.annotatePod("db", "etcd-0", { touched: "1" });
  const [request] = api.asked("PATCH", "/api/v1/namespaces/db/pods/etcd-0");
  expect(request!.headers["content-type"]).toBe("application/merge-patch+json");
  expect(request!.body).toEqual({ metadata: { annotations: { touched: "1" } } });
});

test("annotating a pod that is gone is no error", async () => {
  await kube.annotatePod("db", "etcd-0", { touched: "1" });
  expect(api.asked("PATCH", "/api/v1/namespaces/db/pods/etcd-0")).toHaveLength(1);
});

test("a ping says what time it is for the API server", async () => {
  api.on("GET", "/version", { headers: { date: "Tue, 01 Jan 2030 00:00:00 GMT" }, body: {} });
  expect(await kube.ping()).toBe(Date.UTC(2030, 0, 1));
});

test("deleting what is not there is no error", async () => {
  await kube.delete("v1", "ConfigMap", "db", "trust");
  await kube.delete("example.com/v1", "Unknown", "db", "x");
});
