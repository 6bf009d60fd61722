import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { identify, isRunning, type ProcessIdentity } from "../process-identity.ts";
import { paths } from "./clone.ts";
import type { Component } from "./components.ts";
import { enter, insideEnvironment } from "./keeper.ts";
import { childOf, startDetached } from "./process.ts";
import { type Settings, writeSettings } from "./settings.ts";

/** Starts those of the components that aren't running. */
export async function start(settings: Settings, keeper: ProcessIdentity, components: Component[]): Promise<void> {
  for (const component of components) {
    if (isRunning(settings.processes[component.name])) continue;
    const args = [...enter(keeper), component.command, ...component.args];
    // nsenter stays as the parent of the process that counts.
    const parent = startDetached("nsenter", args, logOf(component.name), insideEnvironment());
    const started = identify(await childOf(parent));
    if (!started) throw ended(component.name);
    settings.processes[component.name] = started;
  }
  writeSettings(settings);
}

/** Fails if a process has ended: then waiting for it would be in vain. */
export function checkRunning(settings: Settings): void {
  for (const [name, process] of Object.entries(settings.processes)) {
    if (!isRunning(process)) throw ended(name);
  }
}

export function logOf(name: string): string {
  return join(paths.logs, `${name}.log`);
}

function ended(name: string): UserError {
  const log = readFileSync(logOf(name), "utf8").trimEnd().split("\n").slice(-10).join("\n");
  return new UserError(
    `${name} has ended. The end of ${logOf(name)}:\n${log}\nRun "cluster up" to start it again, or "cluster down" and "cluster up" to start afresh`,
  );
}
