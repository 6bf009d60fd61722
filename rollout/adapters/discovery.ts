import type { ApiClient } from "./api-client";

/** A kind that the API server serves. */
export interface Resource {
  apiVersion: string;
  kind: string;
  /** Name in paths, such as `statefulsets`. */
  plural: string;
  namespaced: boolean;
}

interface ApiResourceList {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

/** What the API server serves. Remembers what it found; what it did not find it asks again. */
export class Discovery {
  readonly #api: ApiClient;
  readonly #known = new Map<string, Resource>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  /** Undefined where the kind is not served: its CustomResourceDefinition is not installed. */
  async find(apiVersion: string, kind: string): Promise<Resource | undefined> {
    const key = `${apiVersion}/${kind}`;
    if (!this.#known.has(key)) await this.#load(apiVersion);
    return this.#known.get(key);
  }

  /** `group/version` that the API server prefers for a group; undefined where it does not know the group. */
  async preferredVersion(group: string): Promise<string | undefined> {
    const found = await this.#api.find<{ preferredVersion?: { groupVersion: string } }>({
      method: "GET",
      path: `/apis/${encodeURIComponent(group)}`,
      verb: "discover",
      object: `API group ${group}`,
    });
    return found?.preferredVersion?.groupVersion;
  }

  async #load(apiVersion: string): Promise<void> {
    const list = await this.#api.find<ApiResourceList>({
      method: "GET",
      path: versionPath(apiVersion),
      verb: "discover",
      object: `kinds of ${apiVersion}`,
    });
    for (const { name, kind, namespaced } of list?.resources ?? []) {
      // Names with a slash are subresources; they may carry the kind of their parent.
      if (!name.includes("/")) this.#known.set(`${apiVersion}/${kind}`, { apiVersion, kind, plural: name, namespaced });
    }
  }
}

/** Path of an object, or of the collection where `name` is left out. */
export function resourcePath(resource: Resource, namespace: string | undefined, name?: string): string {
  const parts = [versionPath(resource.apiVersion)];
  if (resource.namespaced && namespace !== undefined) parts.push("namespaces", encodeURIComponent(namespace));
  parts.push(resource.plural);
  if (name !== undefined) parts.push(encodeURIComponent(name));
  return parts.join("/");
}

function versionPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}
