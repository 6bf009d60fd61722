import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cached, cachedFolder, hash, hashFolder } from "./cache.ts";
import { UserError } from "./errors.ts";
import { compile, flags, modulesRoot, prepare } from "./go-build.ts";
import { type GoTool, goTools } from "./go-tool-list.ts";

export function goTool(name: string): GoTool {
  const tool = goTools.find((candidate) => candidate.name === name);
  if (!tool) throw new UserError(`there is no tool "${name}": use one of ${goTools.map((t) => t.name).join(", ")}`);
  return tool;
}

/** The folder of a tool, whether it is built yet or not. */
export function goToolFolder(tool: GoTool): string {
  return cachedFolder(tool.name, goToolKey(tool));
}

/** Where a binary is, by its name. */
export function binary(name: string): string {
  const tool = goTools.find((candidate) => binaryNames(candidate).includes(name));
  if (!tool) throw new Error(`no Go tool makes a binary "${name}"`);
  return join(goToolFolder(tool), "bin", name);
}

function binaryNames({ packages, names = {} }: GoTool): string[] {
  return [...Object.values(packages), ...Object.values(names).flat()];
}

export async function buildGoTool(tool: GoTool): Promise<void> {
  await cached(tool.name, goToolKey(tool), async (folder) => {
    await compile(tool, folder, await prepare(tool, folder));
  });
}

const keys = new Map<string, string>();

function goToolKey(tool: GoTool): string {
  let key = keys.get(tool.name);
  if (!key) {
    const { seconds: _, ...built } = tool; // an estimate changes nothing in what is built
    const module = join(modulesRoot, tool.module ?? tool.name);
    const how = readFileSync(join(import.meta.dirname, "go-build.ts"));
    key = hash(hashFolder(module), JSON.stringify(built), JSON.stringify(flags(tool)), how, goVersion());
    keys.set(tool.name, key);
  }
  return key;
}

let version: string | undefined;

function goVersion(): string {
  version ??= spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8", cwd: modulesRoot }).stdout?.trim();
  if (!version) throw new UserError("Go is missing: install Go 1.26.6 or newer and put it on PATH");
  return version;
}
