import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";

/** What a command that ended left behind. */
export interface CommandResult {
  /** 128 and more: ended by a signal. */
  code: number;
  stdout: string;
  stderr: string;
  durationMs: number;
}

export interface CommandOptions {
  cwd?: string;
  env: NodeJS.ProcessEnv;
  /** The command and all that it started are killed after this time, and the result says so. */
  timeoutMs: number;
}

/** Commands that were started here and have not ended: none may outlive the test run. */
const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) killTree(child);
});

/** Runs a command to its end. */
export function runCommand(command: string[], options: CommandOptions): Promise<CommandResult> {
  const started = Date.now();
  const [name = "", ...args] = command;
  const child = spawn(name, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      err.push(Buffer.from(`\nkilled: ${command.join(" ")} took longer than ${options.timeoutMs} ms\n`));
      killTree(child);
    }, options.timeoutMs);
    child.on("error", (error) => {
      clearTimeout(timer);
      running.delete(child);
      reject(new Error(`${name} could not be started: ${error.message}`));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({
        code: code ?? (signal ? 137 : 1),
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
        durationMs: Date.now() - started,
      });
    });
  });
}

/** A command that runs beside the test. */
export class BackgroundCommand {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;
  #code: number | undefined;

  constructor(
    readonly command: string[],
    env: NodeJS.ProcessEnv,
    /** Where its output goes. */
    readonly logFile: string,
  ) {
    const log = openSync(logFile, "a");
    const [name = "", ...args] = command;
    this.#child = spawn(name, args, { env, detached: true, stdio: ["ignore", log, log] });
    running.add(this.#child);
    this.#ended = new Promise((resolve) => {
      const end = (code: number) => {
        running.delete(this.#child);
        this.#code = code;
        resolve(code);
      };
      this.#child.on("error", () => end(127));
      this.#child.on("exit", (code) => end(code ?? 137));
    });
  }

  /** Exit code, once it has ended. */
  get code(): number | undefined {
    return this.#code;
  }

  get output(): string {
    return readFileSync(this.logFile, "utf8");
  }

  /** Waits for its end; after the grace time it and everything it started are killed. */
  async end(graceMs: number): Promise<number> {
    const timer = setTimeout(() => killTree(this.#child), graceMs);
    const code = await this.#ended;
    clearTimeout(timer);
    return code;
  }

  kill(): void {
    if (this.#code === undefined) killTree(this.#child);
  }
}

/** Kills a process and all that it started: Pulumi puts its plugins into groups of their own. */
function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const victims = [child.pid];
  const parents = parentsByPid();
  for (const victim of victims) {
    for (const [pid, parent] of parents) if (parent === victim) victims.push(pid);
  }
  for (const pid of victims) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

function parentsByPid(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program, in parentheses, may hold anything; the parent follows the state after it.
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      parents.set(Number(name), Number(fields[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return parents;
}

/** The last lines of a command's output, for error messages. */
export function tail(text: string, lines = 40): string {
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Looks again and again until there is an answer; fails with what it was about after the deadline. */
export async function eventually<T>(
  what: string,
  deadlineMs: number,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  let last = "";
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      last = `: ${(error as Error).message}`;
    }
    if (Date.now() > end) throw new Error(`waited ${Math.round(deadlineMs / 1000)} s for ${what}${last}`);
    await sleep(200);
  }
}
