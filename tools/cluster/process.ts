import { spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { UserError } from "../errors.ts";
import { sleep } from "../progress.ts";
import type { ProcessIdentity } from "./settings.ts";

export function identify(pid: number): ProcessIdentity | undefined {
  const fields = stat(pid);
  return fields && fields.state !== "Z" ? { pid, startTime: fields.startTime } : undefined;
}

export function isRunning(process: ProcessIdentity | undefined): boolean {
  return process !== undefined && identify(process.pid)?.startTime === process.startTime;
}

function stat(pid: number): { state: string; parent: number; startTime: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name, may hold spaces and brackets: count from its end.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] as string, parent: Number(fields[1]), startTime: fields[19] as string };
  } catch {
    return undefined;
  }
}

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
  for (let attempt = 0; isRunning(process); attempt++) {
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
    if (!stat(pid) || stat(pid)?.state === "Z") break;
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
