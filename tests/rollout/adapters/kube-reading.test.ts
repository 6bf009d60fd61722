import type { EtcdSpec } from "../../../config/types";
import { KubeAdapter } from "../../../rollout/adapters";
import { FakeApiServer, failure } from "./fake-api-server";

let api: FakeApiServer;
let kube: KubeAdapter;

beforeEach(async () => {
  api = new FakeApiServer();
  await api.start();
  kube = new KubeAdapter({ kubeconfig: api.kubeconfig });
});

afterEach(() => api.stop());

const spec = { name: "etcd", namespace: "db", workload: { kind: "StatefulSet" } } as EtcdSpec;

describe("reading", () => {
  const workload = {
    metadata: { name: "etcd", namespace: "db", uid: "w1", generation: 3, annotations: { a: "1" } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "etcd" } },
      template: { metadata: { annotations: { b: "2" } } },
    },
    status: { observedGeneration: 2, updateRevision: "etcd-77" },
  };

  function pod(name: string, owner: string, status: object = {}): object {
    const labels = { "controller-revision-hash": "etcd-77" };
    return {
      metadata: { name, uid: `uid-${name}`, labels, ownerReferences: [{ uid: owner, controller: true }] },
      status,
    };
  }

  beforeEach(() => {
    api.on("GET", "/apis/apps/v1/namespaces/db/statefulsets/etcd", { body: workload });
  });

  test("the workload", async () => {
    expect(await kube.workload(spec)).toEqual({
      kind: "StatefulSet",
      uid: "w1",
      generation: 3,
      observedGeneration: 2,
      replicas: 3,
      updateRevision: "etcd-77",
      annotations: { a: "1" },
      templateAnnotations: { b: "2" },
      object: workload,
    });
  });

  test("a workload of a kind that is not served is not there", async () => {
    expect(await kube.workload({ ...spec, workload: { kind: "PetSet" } })).toBeUndefined();
    expect(await kube.pods({ ...spec, workload: { kind: "PetSet" } })).toEqual([]);
  });

  test("the pods that the workload owns, by ordinal", async () => {
    const ready = { conditions: [{ type: "Ready", status: "True" }] };
    const items = [pod("etcd-10", "w1", ready), pod("etcd-2", "w1", ready), pod("etcd-0", "another")];
    api.on("GET", "/api/v1/namespaces/db/pods", { body: { items } });
    const pods = await kube.pods(spec);
    expect(pods.map(({ name, ordinal, ready, revision }) => [name, ordinal, ready, revision])).toEqual([
      ["etcd-2", 2, true, "etcd-77"],
      ["etcd-10", 10, true, "etcd-77"],
    ]);
    expect(api.asked("GET", "/api/v1/namespaces/db/pods")[0]!.query).toEqual({ labelSelector: "app=etcd" });
  });

  test("what keeps a pod from being created, from its events", async () => {
    const creating = {
      containerStatuses: [{ name: "etcd", ready: false, state: { waiting: { reason: "ContainerCreating" } } }],
    };
    api.on("GET", "/api/v1/namespaces/db/pods", { body: { items: [pod("etcd-0", "w1", creating)] } });
    api.on("GET", "/api/v1/namespaces/db/events", {
      body: {
        items: [
          { reason: "FailedMount", message: 'secret "x" not found', lastTimestamp: "2026-01-01T00:00:02Z" },
          { reason: "Older", message: "y", lastTimestamp: "2026-01-01T00:00:01Z" },
        ],
      },
    });
    expect((await kube.pods(spec))[0]!.trouble).toBe('FailedMount: secret "x" not found');
    api.on("GET", "/api/v1/namespaces/db/events", failure(403, "no events for you"));
    expect((await kube.pods(spec))[0]!.trouble).toBeUndefined();
  });

  test("the material of a Secret, once it is whole", async () => {
    const path = "/api/v1/namespaces/db/secrets/tls";
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    expect(await kube.secretMaterial("db", "tls")).toBeUndefined();
    api.on("GET", path, { body: { data: { "tls.key": base64("key") } } });
    expect(await kube.secretMaterial("db", "tls")).toBeUndefined();
    api.on("GET", path, {
      body: { data: { "tls.crt": base64("crt"), "tls.key": base64("key"), "ca.crt": base64("ca") } },
    });
    expect(await kube.secretMaterial("db", "tls")).toEqual({ certificate: "crt", key: "key", ca: "ca" });
  });

  test("an issuer, of the namespace or of the cluster", async () => {
    api.on("GET", "/apis/cert-manager.io", { body: { preferredVersion: { groupVersion: "cert-manager.io/v1" } } });
    const conditions = [{ type: "Ready", status: "False", reason: "ErrGetKeyPair", message: "no secret" }];
    api.on("GET", "/apis/cert-manager.io/v1/clusterissuers/ca", { body: { spec: { ca: {} }, status: { conditions } } });
    api.on("GET", "/apis/cert-manager.io/v1/namespaces/db/issuers/self", { body: { spec: { selfSigned: {} } } });
    const group = "cert-manager.io";
    expect(await kube.issuer("ClusterIssuer", "db", "ca", group)).toEqual({
      ready: false,
      reason: "ErrGetKeyPair",
      message: "no secret",
      type: "ca",
    });
    expect(await kube.issuer("Issuer", "db", "self", group)).toEqual({ ready: false, type: "selfSigned" });
    expect(await kube.issuer("Issuer", "db", "none", group)).toBeUndefined();
    expect(await kube.issuer("Issuer", "db", "self", "unknown.io")).toBeUndefined();
  });

  test("a list names the kind of its items", async () => {
    api.on("GET", "/api/v1/configmaps", { body: { items: [{ metadata: { name: "a" } }] } });
    expect(await kube.list("v1", "ConfigMap", undefined)).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
    ]);
  });
});
