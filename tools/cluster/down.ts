import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lock } from "../cache.ts";
import { debianFolder } from "../debian.ts";
import { report, sleep } from "../progress.ts";
import { paths, stateRoot } from "./clone.ts";
import { removeLink } from "./network.ts";
import { kill } from "./process.ts";
import { fixed, readSettings } from "./settings.ts";

/** Ends the cluster of this clone and removes all it has left. Can be run again at any time. */
export async function down(): Promise<void> {
  if (!existsSync(stateRoot)) return report("there is no cluster of this clone");
  const unlock = await lock(paths.lock, "the cluster");
  try {
    await removeEverything();
  } finally {
    unlock();
  }
  report("the cluster is gone");
}

export async function removeEverything(): Promise<void> {
  const keeper = readSettings()?.keeper;
  if (keeper) await kill(keeper);
  if (existsSync(debianFolder())) await removeLink();
  await removeCgroups();
  rmSync(paths.cluster, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

/** The cgroups are one folder in each hierarchy (version 1), or in the only one (version 2). */
async function removeCgroups(): Promise<void> {
  const root = "/sys/fs/cgroup";
  const hierarchies = [root, ...readdirSync(root).map((name) => join(root, name))];
  for (const folder of hierarchies.map((hierarchy) => join(hierarchy, fixed.cgroup))) {
    // The kernel takes a moment to let go of a cgroup whose processes have just been killed.
    for (let attempt = 0; existsSync(folder); attempt++) {
      try {
        removeCgroup(folder);
      } catch (error) {
        if (attempt === 50) throw error;
        await sleep(100);
      }
    }
  }
}

function removeCgroup(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeCgroup(join(folder, entry.name));
  }
  rmdirSync(folder);
}
