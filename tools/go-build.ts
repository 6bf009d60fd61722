import {
  chmodSync,
  cpSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { output } from "./command.ts";
import { link } from "./files.ts";
import { explainGo } from "./go-errors.ts";
import type { GoTool } from "./go-tool-list.ts";

export const modulesRoot = join(import.meta.dirname, "modules");

export function flags(tool: GoTool): string[] {
  const variables = Object.entries(tool.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  // Nobody debugs these binaries, and making what a debugger reads takes a tenth of the compiler's time.
  const quick = "-gcflags=all=-dwarf=false";
  return ["-trimpath", "-buildvcs=false", quick, "-ldflags", ["-s -w", ...variables].join(" ")];
}

/**
 * Takes every step that fetches or copies something, and returns the folder of the source. What a step needs it fetches
 * itself: whatever an earlier run or another project left in Go's module cache, a new machine has nothing.
 *
 * The source is a copy, so that generated files never appear in the repository.
 */
export async function prepare(tool: GoTool, folder: string): Promise<string> {
  const source = join(folder, "source");
  cpSync(join(modulesRoot, tool.module ?? tool.name), source, { recursive: true });
  for (const { module, into, files } of tool.copies ?? []) {
    const from = await moduleFolder(source, module);
    for (const [file, name] of Object.entries(files)) {
      copyWritable(join(from, file), join(into === "source" ? source : folder, name));
    }
  }
  await changeDependencies(tool, source);
  return source;
}

/** Builds what `prepare` has laid out, and removes the source. */
export async function compile(tool: GoTool, folder: string, source: string): Promise<void> {
  const bin = join(folder, "bin");
  const packages = Object.keys(tool.packages);
  // With several packages the output is a folder, and their binaries are named after the last part of their paths.
  await go(source, ["build", ...flags(tool), "-o", `${bin}/`, ...packages]);
  for (const [path, name] of Object.entries(tool.packages)) {
    renameSync(join(bin, nameOfBinary(path, source)), join(bin, name));
  }
  for (const [name, others] of Object.entries(tool.names ?? {})) {
    for (const other of others) link(join(bin, name), join(bin, other));
  }
  // Scripts lose their mode in Go's module cache.
  for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
  rmSync(source, { recursive: true, force: true });
}

/** As Go names it: the last part of the path that is no version; of the module's own folder, of the module's path. */
function nameOfBinary(path: string, source: string): string {
  const whole = path === "." ? moduleName(source) : path;
  return basename(/\/v\d+$/.test(whole) ? dirname(whole) : whole);
}

function moduleName(source: string): string {
  return /^module (\S+)$/m.exec(readFileSync(join(source, "go.mod"), "utf8"))?.[1] as string;
}

/** The folder of a dependency, which is fetched if Go does not have it yet. */
async function moduleFolder(source: string, module: string): Promise<string> {
  return JSON.parse(await go(source, ["mod", "download", "-json", module])).Dir;
}

/**
 * Replaces modules by changed copies of them. A stub keeps out a package that nobody here needs and that brings more
 * with it than all others do, such as the SDK of a cloud; an edit keeps a module building beside newer ones.
 */
async function changeDependencies(tool: GoTool, source: string): Promise<void> {
  const stubs = tool.stubs ? globSync("stubs/**/*.go", { cwd: source }).map((file) => dirname(file)) : [];
  const changed = new Map<string, string>();
  const change = async (module: string) => {
    const copy = join(source, "changed", module);
    if (!changed.has(module)) copyWritable(await moduleFolder(source, module), copy);
    changed.set(module, copy);
    return copy;
  };
  for (const stub of new Set(stubs)) {
    const path = stub.slice("stubs/".length);
    const module = (await go(source, ["list", "-find", "-f", "{{.Module.Path}}", path])).trim();
    const target = join(await change(module), path.slice(module.length));
    for (const file of goFiles(target)) rmSync(file);
    for (const file of goFiles(join(source, stub))) cpSync(file, join(target, basename(file)));
  }
  for (const { module, file, from, to } of tool.edits ?? []) edit(join(await change(module), file), from, to);
  rmSync(join(source, "stubs"), { recursive: true, force: true });
  // Last, so that every path above is looked up in the module as it was published.
  const replace = [...changed.keys()].map((module) => `-replace=${module}=./changed/${module}`);
  if (replace.length > 0) await go(source, ["mod", "edit", ...replace]);
}

function goFiles(folder: string): string[] {
  return globSync("*.go", { cwd: folder }).map((name) => join(folder, name));
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from))
    throw new Error(`${file} does not hold ${JSON.stringify(from)}: look at the edits of the tool again`);
  writeFileSync(file, text.replaceAll(from, to));
}

/** Go's module cache is read-only, and its tests are of no use here. */
function copyWritable(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !/\/testdata$|_test\.go$/.test(path) });
  const paths = statSync(to).isDirectory() ? globSync("**", { cwd: to }).map((path) => join(to, path)) : [];
  for (const path of [to, ...paths]) chmodSync(path, statSync(path).mode | 0o200);
}

/** Settings of the user's own Go must not change what is built; its caches and its proxy are the user's. */
async function go(cwd: string, args: string[]): Promise<string> {
  // The compiler uses more memory and spends less time on collecting it.
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "", GOWORK: "off", GOGC: "400" };
  try {
    return await output("go", args, { cwd, env });
  } catch (error) {
    throw explainGo(error as Error);
  }
}
