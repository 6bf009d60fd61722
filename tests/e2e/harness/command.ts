import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { descendants } from "./processes";

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
    cwd?: string,
  ) {
    const log = openSync(logFile, "a");
    const [name = "", ...args] = command;
    this.#child = spawn(name, args, { env, ...(cwd && { cwd }), detached: true, stdio: ["ignore", log, log] });
    closeSync(log);
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

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
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
  for (const pid of [child.pid, ...descendants(child.pid).map((process) => process.pid)]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
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
