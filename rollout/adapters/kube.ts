import type { KubeConfig } from "@kubernetes/client-node";
import type { EtcdSpec } from "../../config/types";
import type { KubeObject } from "../../manifests/types";
import type { ApplyOptions, KubePort, LiveIssuer, LivePod, LiveWorkload, Right, SecretMaterial } from "../ports";
import { type ClusterAccess, loadKubeConfig } from "./access";
import { ApiClient, type ApiClientOptions, type ApiRequest } from "./api-client";
import { Discovery, type Resource, resourcePath } from "./discovery";
import { KubeError } from "./kube-error";
import { isHeldUp, livePod, type PodObject } from "./live-pod";
import { liveWorkload, podSelector, workloadApiVersion } from "./live-workload";
import { newestWarning } from "./pod-events";
import { missingRights } from "./rights";

/** Name under which the engine and the Pulumi resources own the fields that they apply. */
export const fieldManager = "pulumi-etcd";

/**
 * Kubernetes through its API server.
 *
 * Every request has a time limit, and is repeated for a bounded time where the server is busy or the connection
 * breaks. A kind that the API server does not serve has no objects: reading one answers `undefined` or an empty
 * list, applying one fails. All failures are `KubeError`.
 */
export class KubeAdapter implements KubePort {
  readonly #api: ApiClient;
  readonly #discovery: Discovery;

  /** @throws KubeError with reason `Kubeconfig` where the kubeconfig cannot be read. */
  constructor(access: ClusterAccess | KubeConfig, options: ApiClientOptions = {}) {
    this.#api = new ApiClient("getCurrentCluster" in access ? access : loadKubeConfig(access), options);
    this.#discovery = new Discovery(this.#api);
  }

  async ping(): Promise<number | undefined> {
    const request = { method: "GET", path: "/version", verb: "get", object: "version", once: true } as const;
    try {
      await this.#api.request(request);
      return this.#api.serverTime;
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== "Timeout") throw error;
      throw new KubeError({ ...request, reason: "Unreachable", server: this.#api.server, detail: "no answer in time" });
    }
  }

  missingRights(rights: Right[]): Promise<Right[]> {
    return missingRights(this.#api, rights);
  }

  async serves(apiVersion: string, kind: string): Promise<boolean> {
    return (await this.#discovery.find(apiVersion, kind)) !== undefined;
  }

  async workload(spec: EtcdSpec): Promise<LiveWorkload | undefined> {
    const { kind } = spec.workload;
    const object = await this.get(workloadApiVersion[kind], kind, spec.namespace, spec.name);
    return object && liveWorkload(kind, object);
  }

  async pods(spec: EtcdSpec): Promise<LivePod[]> {
    const workload = await this.workload(spec);
    if (!workload) return [];
    const candidates = await this.list("v1", "Pod", spec.namespace, podSelector(workload.object));
    const owned = (candidates as unknown as PodObject[]).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === workload.uid),
    );
    const pods = await Promise.all(owned.map((pod) => this.#livePod(spec.namespace, pod)));
    return pods.sort((a, b) => a.ordinal - b.ordinal);
  }

  async apply(object: KubeObject, options: ApplyOptions = {}): Promise<KubeObject> {
    const { apiVersion, kind, metadata } = object;
    const resource = await this.#resource(apiVersion, kind, "apply", metadata.namespace, metadata.name);
    return this.#api.request<KubeObject>({
      method: "PATCH",
      path: resourcePath(resource, metadata.namespace, metadata.name),
      query: {
        fieldManager: options.fieldManager ?? fieldManager,
        force: "true",
        ...(options.dryRun && { dryRun: "All" }),
      },
      contentType: "application/apply-patch+yaml",
      body: object,
      verb: "apply",
      object: label(kind, metadata.namespace, metadata.name),
    });
  }

  async get(
    apiVersion: string,
    kind: string,
    namespace: string | undefined,
    name: string,
  ): Promise<KubeObject | undefined> {
    const resource = await this.#discovery.find(apiVersion, kind);
    return resource && this.#api.find<KubeObject>(this.#on(resource, "GET", "get", namespace, name));
  }

  async list(
    apiVersion: string,
    kind: string,
    namespace: string | undefined,
    labelSelector?: string,
  ): Promise<KubeObject[]> {
    const resource = await this.#discovery.find(apiVersion, kind);
    if (!resource) return [];
    const answer = await this.#api.request<{ items?: KubeObject[] }>({
      method: "GET",
      path: resourcePath(resource, namespace),
      query: labelSelector ? { labelSelector } : {},
      verb: "list",
      object: label(kind, namespace),
    });
    return (answer.items ?? []).map((item) => ({ ...item, apiVersion, kind }));
  }

  create(object: KubeObject): Promise<KubeObject> {
    return this.#write("POST", "create", object, "");
  }

  replace(object: KubeObject): Promise<KubeObject> {
    return this.#write("PUT", "replace", object, "");
  }

  async replaceStatus(object: KubeObject): Promise<void> {
    await this.#write("PUT", "update the status of", object, "/status");
  }

  async #write(method: "POST" | "PUT", verb: string, object: KubeObject, suffix: string): Promise<KubeObject> {
    const { apiVersion, kind, metadata } = object;
    const resource = await this.#resource(apiVersion, kind, verb, metadata.namespace, metadata.name);
    const name = method === "POST" ? undefined : metadata.name;
    return this.#api.request<KubeObject>({
      method,
      path: `${resourcePath(resource, metadata.namespace, name)}${suffix}`,
      query: { fieldManager },
      body: object,
      verb,
      object: label(kind, metadata.namespace, metadata.name),
    });
  }

  /** Deletes in the background, dependents included. An object that is not there counts as deleted. */
  async delete(apiVersion: string, kind: string, namespace: string | undefined, name: string): Promise<void> {
    const resource = await this.#discovery.find(apiVersion, kind);
    if (!resource) return;
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
    await this.#api.find({ ...this.#on(resource, "DELETE", "delete", namespace, name), body });
  }

  async evict(namespace: string, pod: string, uid: string): Promise<"evicted" | "blocked" | "gone"> {
    // An eviction that fails on the uid has spent the disruption budget for the next two minutes all the same.
    if (!(await this.#isSamePod(namespace, pod, uid))) return "gone";
    try {
      await this.#api.request({
        method: "POST",
        path: `${podPath(namespace, pod)}/eviction`,
        body: {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name: pod, namespace },
          deleteOptions: { preconditions: { uid } },
        },
        verb: "evict",
        object: label("Pod", namespace, pod),
        // 429 is a PodDisruptionBudget's no; 500 is how two budgets over one pod are refused.
        retryOn: [503, 504],
      });
      return "evicted";
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status === 429) return "blocked";
      if (error.status === 404) return "gone";
      if (error.status === 409 && !(await this.#isSamePod(namespace, pod, uid))) return "gone";
      throw error;
    }
  }

  async deletePod(namespace: string, pod: string, uid: string): Promise<"deleted" | "gone"> {
    if (!(await this.#isSamePod(namespace, pod, uid))) return "gone";
    const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
    const object = label("Pod", namespace, pod);
    try {
      await this.#api.request({ method: "DELETE", path: podPath(namespace, pod), body, verb: "delete", object });
      return "deleted";
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status === 404) return "gone";
      if (error.status === 409 && !(await this.#isSamePod(namespace, pod, uid))) return "gone";
      throw error;
    }
  }

  async annotatePod(namespace: string, pod: string, annotations: Record<string, string>): Promise<void> {
    await this.#api.find({
      method: "PATCH",
      path: podPath(namespace, pod),
      query: { fieldManager },
      contentType: "application/merge-patch+json",
      body: { metadata: { annotations } },
      verb: "annotate",
      object: label("Pod", namespace, pod),
    });
  }

  async configMapData(namespace: string, name: string): Promise<Record<string, string> | undefined> {
    const object = await this.get("v1", "ConfigMap", namespace, name);
    return object && ((object.data as Record<string, string> | undefined) ?? {});
  }

  /** A Secret that does not hold both a certificate and a key, as while the first is being issued, counts as absent. */
  async secretMaterial(namespace: string, name: string): Promise<SecretMaterial | undefined> {
    const object = await this.get("v1", "Secret", namespace, name);
    const data = object?.data as Record<string, string> | undefined;
    const certificate = decode(data?.["tls.crt"]);
    const key = decode(data?.["tls.key"]);
    const ca = decode(data?.["ca.crt"]);
    return certificate && key ? { certificate, key, ...(ca && { ca }) } : undefined;
  }

  async issuer(kind: string, namespace: string, name: string, apiGroup: string): Promise<LiveIssuer | undefined> {
    const apiVersion = await this.#discovery.preferredVersion(apiGroup);
    const object = apiVersion && (await this.get(apiVersion, kind, namespace, name));
    if (!object) return undefined;
    const status = object.status as {
      conditions?: { type: string; status: string; reason?: string; message?: string }[];
    };
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    return {
      ready: ready?.status === "True",
      ...(ready?.reason && { reason: ready.reason }),
      ...(ready?.message && { message: ready.message }),
      type: Object.keys((object.spec as object | undefined) ?? {})[0] ?? "",
    };
  }

  async #livePod(namespace: string, pod: PodObject): Promise<LivePod> {
    const live = livePod(pod);
    const warning = isHeldUp(pod) ? await newestWarning(this.#api, namespace, pod) : undefined;
    return warning ? { ...live, trouble: live.trouble ? `${live.trouble}; ${warning}` : warning } : live;
  }

  async #isSamePod(namespace: string, pod: string, uid: string): Promise<boolean> {
    const live = await this.get("v1", "Pod", namespace, pod);
    return (live as PodObject | undefined)?.metadata.uid === uid;
  }

  #on(
    resource: Resource,
    method: ApiRequest["method"],
    verb: string,
    namespace: string | undefined,
    name: string,
  ): ApiRequest {
    if (resource.namespaced && namespace === undefined) {
      throw this.#error("Invalid", verb, label(resource.kind, namespace, name), "this kind needs a namespace");
    }
    return {
      method,
      path: resourcePath(resource, namespace, name),
      verb,
      object: label(resource.kind, namespace, name),
    };
  }

  async #resource(
    apiVersion: string,
    kind: string,
    verb: string,
    namespace: string | undefined,
    name: string,
  ): Promise<Resource> {
    const resource = await this.#discovery.find(apiVersion, kind);
    if (!resource)
      throw this.#error("NotFound", verb, label(kind, namespace, name), `${apiVersion} ${kind} is not served`);
    if (resource.namespaced && namespace === undefined) {
      throw this.#error("Invalid", verb, label(kind, namespace, name), "this kind needs a namespace");
    }
    return resource;
  }

  #error(reason: KubeError["reason"], verb: string, object: string, detail: string): KubeError {
    return new KubeError({ reason, server: this.#api.server, verb, object, detail });
  }
}

function podPath(namespace: string, pod: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
}

function label(kind: string, namespace: string | undefined, name?: string): string {
  return [kind, [namespace, name].filter((part) => part !== undefined).join("/")].filter(Boolean).join(" ");
}

function decode(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString();
}
