import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./environment";
import { isAlive, parentOf, type RunningProcess, signal } from "./processes";

/** A process of the local cluster: elsewhere nobody lets a test stop them. */
export type ClusterProcess = "kube-apiserver" | "cert-manager-controller" | "kube-controller-manager";

/** Why processes of the cluster cannot be stopped here; undefined where they can. */
export function outOfReach({ variables }: Environment): string | undefined {
  return variables.PULUMI_ETCD_LOCAL_STATE ? undefined : "this is not the local cluster";
}

/** Stops a process of the cluster as it is: it answers nobody, and does not know that it has stopped. */
export function pauseProcess({ variables }: Environment, name: ClusterProcess): () => void {
  const file = join(variables.PULUMI_ETCD_LOCAL_STATE ?? "", "settings.json");
  const { processes } = JSON.parse(readFileSync(file, "utf8")) as { processes: Record<string, RunningProcess> };
  const process = processes[name];
  if (!process || !isAlive(process)) throw new Error(`${name} does not run`);
  signal(process, "SIGSTOP");
  paused.set(process.pid, process);
  return () => {
    resume(process);
    paused.delete(process.pid);
  };
}

/** nsenter, which stays as its parent, stops along with it, and has to be told, too. */
function resume(process: RunningProcess): void {
  signal(process, "SIGCONT");
  const parent = parentOf(process);
  if (parent && /^nsenter /.test(parent.command)) signal(parent, "SIGCONT");
}

/** A cluster whose API server stays stopped is of use to nobody. */
const paused = new Map<number, RunningProcess>();
process.on("exit", () => {
  for (const each of paused.values()) resume(each);
});
