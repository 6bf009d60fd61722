import { readFileSync } from "node:fs";

/** A process id may be given to another process later; together with its start time it may not. */
export interface ProcessIdentity {
  pid: number;
  startTime: string;
}

/** The process of a pid, unless there is none or it has ended. */
export function identify(pid: number): ProcessIdentity | undefined {
  const found = stat(pid);
  return found && found.state !== "Z" ? { pid, startTime: found.startTime } : undefined;
}

/** Whether the process is there, even if it is only being taken down. */
export function exists(process: ProcessIdentity): boolean {
  return identify(process.pid)?.startTime === process.startTime;
}

export function isRunning(process: ProcessIdentity | undefined): boolean {
  return process !== undefined && exists(process) && !stat(process.pid)?.exiting;
}

interface Stat {
  state: string;
  /** Killed, but not gone: the first process of a pid namespace outlasts all others in it. */
  exiting: boolean;
  startTime: string;
}

function stat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name, may hold spaces and brackets: count from its end.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const exitingFlag = 0x4; // PF_EXITING in the kernel's sched.h
    return { state: fields[0] ?? "", exiting: (Number(fields[6]) & exitingFlag) !== 0, startTime: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}
