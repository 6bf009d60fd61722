import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "./errors.ts";

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string | Buffer;
}

/** Runs a command to its end and returns its stdout; its output is part of the error if it fails. */
export function output(command: string, args: string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.stdin.on("error", () => {}); // the command may end without reading its input
    child.stdin.end(options.input);
    child.on("error", (error) => reject(new UserError(`${command} could not be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const how = signal ? `was ended by ${signal}` : `failed with exit code ${code}`;
      reject(new UserError(`${[command, ...args].join(" ")}\n${how}:\n${tail(stderr || stdout)}`));
    });
  });
}

/** Whether a command ends with exit code 0. */
export function succeeds(command: string, args: string[], env?: NodeJS.ProcessEnv): boolean {
  return spawnSync(command, args, { env, stdio: "ignore" }).status === 0;
}

export function onPath(name: string, path = process.env.PATH ?? ""): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function tail(text: string, lines = 25): string {
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}
