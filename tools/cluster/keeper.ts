import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheRoot } from "../cache.ts";
import { output } from "../command.ts";
import { debianEnvironment, debianFolder } from "../debian.ts";
import { UserError } from "../errors.ts";
import { binary } from "../go-tools.ts";
import { identify, isRunning, type ProcessIdentity } from "../process-identity.ts";
import { sleep } from "../progress.ts";
import { paths } from "./clone.ts";
import { asSeenInside } from "./inside.ts";
import { childOf, startDetached } from "./process.ts";
import { fixed } from "./settings.ts";

/**
 * Starts the process that holds the cluster's namespaces (pid, mount, network,
 * host name, IPC) and returns it.
 *
 * It is the first process of the pid namespace: when it is killed, the kernel
 * kills all others, and the mounts and network interfaces go with them. That is
 * what makes `cluster down` complete, however the cluster came to its end.
 */
export async function startKeeper(): Promise<ProcessIdentity> {
  const namespaces = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net", "--uts", "--ipc"];
  const script = join(import.meta.dirname, "keeper.sh");
  const setup = ["sh", script, paths.cluster, cacheRoot, asSeenInside(binary("pause")), fixed.nodeName];
  const env = { PATH: debianEnvironment(debianFolder()).PATH };
  const parent = startDetached(
    "unshare",
    [...namespaces, "--propagation", "private", ...setup],
    join(paths.logs, "keeper.log"),
    env,
  );
  const keeper = identify(await childOf(parent));
  if (!keeper) throw new UserError(`the cluster's first process ended at once: see ${paths.logs}/keeper.log`);
  return keeper;
}

export function enter(keeper: ProcessIdentity): string[] {
  return ["--target", String(keeper.pid), "--pid", "--mount", "--net", "--uts", "--ipc", "--wd=/", "--"];
}

/** Runs a command inside to its end. */
export function runInside(keeper: ProcessIdentity, command: string, args: string[]): Promise<string> {
  return output("nsenter", [...enter(keeper), command, ...args], { env: insideEnvironment() });
}

export function insideEnvironment(): NodeJS.ProcessEnv {
  return { ...debianEnvironment(asSeenInside(debianFolder())), HOME: "/root" };
}

/** Waits until keeper.sh has made its preparations and has become the keeper. */
export async function waitForMounts(keeper: ProcessIdentity): Promise<void> {
  for (let attempt = 0; attempt < 100 && isRunning(keeper); attempt++) {
    if (readFileSync(`/proc/${keeper.pid}/comm`, "utf8").trim() === "pause") return;
    await sleep(30);
  }
  throw new UserError(`the cluster's mounts could not be made: see ${paths.logs}/keeper.log`);
}
