import { readFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { eventually } from "./command";

/** A Kubernetes object as the API server sends it. */
export interface LiveObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
  [field: string]: unknown;
}

/** A Kubernetes object as it is sent. */
export interface ObjectSpec {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  [field: string]: unknown;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

interface ResourceList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

/** An answer of the API server that is not what was asked for, in its own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The cluster as the suite sees it, with none of the product's code. Objects are sent and read as they are: the typed
 * client would leave out what its models do not know.
 */
export class Kube {
  readonly config = new KubeConfig();
  readonly #paths = new Map<string, string>();

  constructor(readonly kubeconfig: string) {
    this.config.loadFromFile(kubeconfig);
  }

  /** Server-side apply; unknown fields are refused. */
  async apply(object: ObjectSpec, options: { dryRun?: boolean; status?: boolean } = {}): Promise<LiveObject> {
    const query = new URLSearchParams({ fieldManager: "pulumi-etcd-e2e", force: "true", fieldValidation: "Strict" });
    if (options.dryRun) query.set("dryRun", "All");
    const { apiVersion, kind, metadata } = object;
    const path = await this.#path(apiVersion, kind, metadata.namespace, metadata.name);
    return this.#request<LiveObject>("PATCH", `${path}${options.status ? "/status" : ""}?${query}`, object);
  }

  async get(apiVersion: string, kind: string, name: string, namespace?: string): Promise<LiveObject | undefined> {
    const path = await this.#path(apiVersion, kind, namespace, name);
    return this.#request<LiveObject>("GET", path).catch(unless404);
  }

  async list(apiVersion: string, kind: string, namespace?: string): Promise<LiveObject[]> {
    return (await this.snapshot(apiVersion, kind, namespace)).items;
  }

  /** A list together with the resource version at which a watch goes on from it. */
  async snapshot(
    apiVersion: string,
    kind: string,
    namespace?: string,
  ): Promise<{ version: string; items: LiveObject[] }> {
    const path = await this.#path(apiVersion, kind, namespace);
    const answer = await this.#request<{ metadata: { resourceVersion: string }; items: LiveObject[] }>("GET", path);
    return { version: answer.metadata.resourceVersion, items: answer.items };
  }

  /** A token of a service account, good for some hours. */
  async token(serviceAccount: string, namespace: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
    const request = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 14400 },
    };
    return (await this.#request<{ status: { token: string } }>("POST", path, request)).status.token;
  }

  async delete(apiVersion: string, kind: string, name: string, namespace?: string): Promise<void> {
    const path = await this.#path(apiVersion, kind, namespace, name);
    await this.#request("DELETE", `${path}?propagationPolicy=Background`).catch(unless404);
  }

  /** As `kubectl edit` changes an object: an RFC 7386 merge patch, by nobody who is known to anybody. */
  async edit(
    apiVersion: string,
    kind: string,
    name: string,
    namespace: string | undefined,
    patch: object,
  ): Promise<void> {
    const path = await this.#path(apiVersion, kind, namespace, name);
    await this.#request("PATCH", `${path}?fieldManager=somebody`, patch, "application/merge-patch+json");
  }

  /** As a drain takes a pod away; false where a PodDisruptionBudget forbids it now. */
  async evict(pod: string, namespace: string): Promise<boolean> {
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace } };
    try {
      await this.#request("POST", `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`, body);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 429) return false;
      throw error;
    }
  }

  /** Whether the API server serves a kind. */
  async serves(apiVersion: string, kind: string): Promise<boolean> {
    const list = await this.#request<ResourceList>("GET", groupPath(apiVersion)).catch(unless404);
    return list?.resources.some((resource) => resource.kind === kind) ?? false;
  }

  async deleteNamespace(name: string, deadlineMs: number): Promise<void> {
    await this.delete("v1", "Namespace", name);
    await eventually(`namespace ${name} to be gone`, deadlineMs, async () =>
      (await this.get("v1", "Namespace", name)) ? undefined : true,
    );
  }

  /** Content of the kubeconfig file, which must never be found in a state file. */
  kubeconfigText(): string {
    return readFileSync(this.kubeconfig, "utf8");
  }

  async #path(apiVersion: string, kind: string, namespace?: string, name?: string): Promise<string> {
    const key = `${apiVersion} ${kind}`;
    if (!this.#paths.has(key)) {
      const { resources } = await this.#request<ResourceList>("GET", groupPath(apiVersion));
      const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
      if (!found) throw new Error(`the cluster does not serve ${key}`);
      this.#paths.set(key, found.name);
    }
    const parts = [namespace && `namespaces/${namespace}`, this.#paths.get(key), name].filter(Boolean);
    return `${groupPath(apiVersion)}/${parts.join("/")}`;
  }

  async #request<T>(
    method: Method,
    path: string,
    body?: object,
    type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json",
  ): Promise<T> {
    const url = new URL(`${this.config.getCurrentCluster()?.server}${path}`);
    const options: RequestOptions = { method, timeout: 20_000 };
    await this.config.applyToHTTPSOptions(options);
    const contentType = body && { "content-type": type };
    options.headers = { ...options.headers, accept: "application/json", ...contentType };
    const { status, text } = await send(url, options, body && JSON.stringify(body));
    if (status > 299) throw new ApiError(status, `${method} ${path}: ${status}: ${messageOf(text)}`);
    return JSON.parse(text) as T;
  }
}

function send(url: URL, options: RequestOptions, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${options.method} ${url.pathname}`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function groupPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}

function unless404(error: Error): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}
