import { readdirSync, readFileSync } from "node:fs";

/** A process id may be given to another process later; together with its start time it may not. */
export interface RunningProcess {
  pid: number;
  startTime: string;
  command: string;
}

/** All that a process has started, and what that has started; children come after their parents. */
export function descendants(pid: number): RunningProcess[] {
  const parents = parentsByPid();
  const found = [pid];
  for (const parent of found) {
    for (const [child, of] of parents) if (of === parent) found.push(child);
  }
  return found.slice(1).flatMap((child) => identify(child) ?? []);
}

export function identify(pid: number): RunningProcess | undefined {
  const fields = stat(pid);
  // What has ended and was not asked about yet is no process any more.
  if (!fields || fields[0] === "Z") return undefined;
  return { pid, startTime: fields[19] ?? "", command: commandLine(pid) };
}

export function parentOf({ pid }: Pick<RunningProcess, "pid">): RunningProcess | undefined {
  const parent = Number(stat(pid)?.[1]);
  return parent > 0 ? identify(parent) : undefined;
}

export function isAlive({ pid, startTime }: Pick<RunningProcess, "pid" | "startTime">): boolean {
  return identify(pid)?.startTime === startTime;
}

/** Sends a signal to exactly this process; none where it has ended. */
export function signal(target: Pick<RunningProcess, "pid" | "startTime">, name: NodeJS.Signals): void {
  if (isAlive(target)) process.kill(target.pid, name);
}

function parentsByPid(): Map<number, number> {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return new Map(numbers.map((name) => [Number(name), Number(stat(Number(name))?.[1])]));
}

/** The fields after the name of the program, which is in parentheses and may hold anything. */
function stat(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}
