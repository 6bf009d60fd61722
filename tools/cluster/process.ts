import { spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { UserError } from "../errors.ts";
import { exists, identify, type ProcessIdentity } from "../process-identity.ts";
import { sleep } from "../progress.ts";

/** Starts a process that outlives this one, with its output in a file. */
export function startDetached(command: string, args: string[], log: string, env: NodeJS.ProcessEnv): number {
  const file = openSync(log, "a");
  const child = spawn(command, args, { detached: true, stdio: ["ignore", file, file], env, cwd: "/" });
  child.on("error", () => {}); // seen as a missing pid below
  child.unref();
  if (child.pid === undefined) throw new UserError(`${command} could not be started: is it installed?`);
  return child.pid;
}

export async function kill(process: ProcessIdentity): Promise<void> {
  for (let attempt = 0; exists(process); attempt++) {
    if (attempt === 300)
      throw new UserError(`process ${process.pid} does not end: see "ps -o stat,wchan -p ${process.pid}"`);
    globalThis.process.kill(process.pid, "SIGKILL");
    await sleep(100);
  }
}

/** The one child of a process, as soon as it is there. */
export async function childOf(pid: number, within = 10_000): Promise<number> {
  for (const deadline = Date.now() + within; Date.now() < deadline; await sleep(10)) {
    const children = readChildren(pid);
    if (children[0] !== undefined) return children[0];
    if (!identify(pid)) break;
  }
  throw new UserError(`process ${pid} did not start its child`);
}

function readChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
