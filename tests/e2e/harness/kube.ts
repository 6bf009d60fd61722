import { readFileSync } from "node:fs";
import { KubeConfig, KubernetesObjectApi, PatchStrategy } from "@kubernetes/client-node";
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

export type ObjectSpec = Omit<LiveObject, "metadata"> & { metadata: { name: string; namespace?: string } };

interface Failure {
  code?: number;
}

/** The cluster as the suite sees it, through the official client and none of the product's code. */
export class Kube {
  readonly config = new KubeConfig();
  readonly #api: KubernetesObjectApi;

  constructor(readonly kubeconfig: string) {
    this.config.loadFromFile(kubeconfig);
    this.#api = KubernetesObjectApi.makeApiClient(this.config);
  }

  /** Server-side apply; unknown fields are refused. */
  async apply(object: ObjectSpec, options: { dryRun?: boolean } = {}): Promise<LiveObject> {
    const dryRun = options.dryRun ? "All" : undefined;
    return (await this.#api.patch(
      object as never,
      undefined,
      dryRun,
      "pulumi-etcd-e2e",
      true,
      PatchStrategy.ServerSideApply,
    )) as LiveObject;
  }

  async get(apiVersion: string, kind: string, name: string, namespace?: string): Promise<LiveObject | undefined> {
    try {
      const metadata = { name, ...(namespace && { namespace }) };
      return (await this.#api.read({ apiVersion, kind, metadata })) as LiveObject;
    } catch (error) {
      if ((error as Failure).code === 404) return undefined;
      throw error;
    }
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
    const answer = await this.#api.list(apiVersion, kind, namespace);
    const items = answer.items.map((item) => ({ ...item, apiVersion, kind })) as LiveObject[];
    return { version: answer.metadata?.resourceVersion ?? "", items };
  }

  async delete(apiVersion: string, kind: string, name: string, namespace?: string): Promise<void> {
    try {
      const metadata = { name, ...(namespace && { namespace }) };
      await this.#api.delete({ apiVersion, kind, metadata });
    } catch (error) {
      if ((error as Failure).code !== 404) throw error;
    }
  }

  /** Whether the API server serves a kind. */
  async serves(apiVersion: string, kind: string): Promise<boolean> {
    try {
      await this.list(apiVersion, kind);
      return true;
    } catch {
      return false;
    }
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
}
