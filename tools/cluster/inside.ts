import { relative } from "node:path";
import { cacheRoot } from "../cache.ts";
import { paths } from "./clone.ts";

/**
 * Paths as the cluster's processes see them.
 *
 * They have a /run and a /var of their own, with the clone's state and the
 * cache bound below /run. So nothing of the cluster appears in the machine's
 * folders or mounts, and socket paths are short however long $HOME is.
 */
export const inside = {
  cluster: "/run/cluster",
  tools: "/run/tools",
  containerdSocket: "/run/containerd/containerd.sock",
  pki: (name: string) => `/run/cluster/pki/${name}`,
  config: (name: string) => `/run/cluster/config/${name}`,
  data: (name: string) => `/run/cluster/data/${name}`,
};

/** The same file, seen from inside. */
export function asSeenInside(path: string): string {
  for (const [outside, mounted] of [
    [paths.cluster, inside.cluster],
    [cacheRoot, inside.tools],
  ] as const) {
    const below = relative(outside, path);
    if (!below.startsWith("..")) return `${mounted}/${below}`;
  }
  throw new Error(`${path} is not visible inside the cluster`);
}
