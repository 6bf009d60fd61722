import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { cached, cachedFolder, hash, hashFolder } from "./cache.ts";
import { output } from "./command.ts";
import { UserError } from "./errors.ts";
import { type GoTool, goTools } from "./go-tool-list.ts";

const modulesRoot = join(import.meta.dirname, "modules");

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
  const tool = goTools.find((candidate) => Object.values(candidate.packages).includes(name));
  if (!tool) throw new Error(`no Go tool makes a binary "${name}"`);
  return join(goToolFolder(tool), "bin", name);
}

export async function buildGoTool(tool: GoTool): Promise<void> {
  await cached(tool.name, goToolKey(tool), (folder) => compile(tool, folder));
}

const keys = new Map<string, string>();

function goToolKey(tool: GoTool): string {
  let key = keys.get(tool.name);
  if (!key) {
    key = hash(
      hashFolder(join(modulesRoot, tool.name)),
      JSON.stringify(tool),
      JSON.stringify(flags(tool)),
      goVersion(),
    );
    keys.set(tool.name, key);
  }
  return key;
}

function flags(tool: GoTool): string[] {
  const variables = Object.entries(tool.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  return ["-trimpath", "-buildvcs=false", "-ldflags", ["-s -w", ...variables].join(" ")];
}

async function compile(tool: GoTool, folder: string): Promise<void> {
  // Built from a copy, so that generated files never appear in the repository.
  const source = join(folder, "source");
  cpSync(join(modulesRoot, tool.name), source, { recursive: true });
  if (tool.generated) await copyFromModule(source, tool.generated, source);
  for (const [path, name] of Object.entries(tool.packages)) {
    await output("go", ["build", ...flags(tool), "-o", join(folder, "bin", name), path], {
      cwd: source,
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "" },
    });
  }
  if (tool.extras) await copyFromModule(source, tool.extras, folder);
  // Scripts lose their mode in Go's module cache.
  for (const name of readdirSync(join(folder, "bin"))) chmodSync(join(folder, "bin", name), 0o755);
  rmSync(source, { recursive: true, force: true });
}

async function copyFromModule(source: string, from: NonNullable<GoTool["extras"]>, to: string): Promise<void> {
  const folder = (await output("go", ["list", "-m", "-f", "{{.Dir}}", from.module], { cwd: source })).trim();
  if (!folder)
    throw new UserError(
      `Go has not downloaded ${from.module}: run "go mod download" in tools/modules/${basename(source)}`,
    );
  for (const [file, name] of Object.entries(from.files)) {
    cpSync(join(folder, file), join(to, name), { recursive: true });
  }
}

let version: string | undefined;

function goVersion(): string {
  version ??= spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8", cwd: modulesRoot }).stdout?.trim();
  if (!version) throw new UserError("Go is missing: install Go 1.26 or newer and put it on PATH");
  return version;
}
