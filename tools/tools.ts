import { copyFileSync, existsSync, linkSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cached, hash } from "./cache.ts";
import { debianFolder, fetchDebianPackages, fetchOpenssh, opensshFolder } from "./debian.ts";
import { UserError } from "./errors.ts";
import { goTools } from "./go-tool-list.ts";
import { buildGoTool, goTool, goToolFolder } from "./go-tools.ts";
import { Counter, elapsed, report } from "./progress.ts";
import { pluginBinary, pulumiPackages } from "./pulumi-versions.ts";

interface Tool {
  name: string;
  action: string;
  folder: () => string;
  make: () => Promise<void>;
}

const debian: Tool = {
  name: "debian",
  action: "fetching containerd, runc, CNI plugins and nftables",
  folder: debianFolder,
  make: fetchDebianPackages,
};

const openssh: Tool = {
  name: "openssh",
  action: "fetching an SSH server",
  folder: opensshFolder,
  make: fetchOpenssh,
};

function allTools(): Tool[] {
  const built = goTools.map((tool) => ({
    name: tool.name,
    action: `building ${Object.values(tool.packages).join(", ")}`,
    folder: () => goToolFolder(tool),
    make: () => buildGoTool(tool),
  }));
  return [debian, openssh, ...built];
}

/** The tools that a Pulumi program needs without a cluster. */
export const pulumiTools = ["kubernetes", "pulumi-language-nodejs", "pulumi", ...pulumiPackages.map(pluginBinary)];

/** The tools that the cluster needs. */
export const clusterTools = [
  "debian",
  ...goTools.filter(({ name, testsOnly }) => !name.startsWith("pulumi") && !testsOnly).map(({ name }) => name),
];

/** The tools that nothing but the tests has a use for. */
export const testTools = goTools.filter(({ testsOnly }) => testsOnly).map(({ name }) => name);

/** Makes the named tools, or all but those of the tests, that are not there yet. */
export async function ensureTools(names: string[] = []): Promise<void> {
  const tools = allTools();
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown)
    throw new UserError(`there is no tool "${unknown}": use one of ${tools.map((tool) => tool.name).join(", ")}`);
  const wanted = tools.filter(({ name }) => (names.length ? names.includes(name) : !testTools.includes(name)));
  const missing = wanted.filter((tool) => !existsSync(tool.folder()));
  const counter = new Counter(missing.length);
  for (const tool of missing) {
    const number = counter.next();
    const started = Date.now();
    report(`${number} ${tool.action} ...`);
    await tool.make();
    report(`${number} ${tool.name}: ${elapsed(started)}`);
  }
}

/**
 * One folder with every command that people and programs call, for PATH.
 *
 * They are hard links, because the Pulumi CLI looks for the language host
 * beside itself after it has resolved symbolic links.
 */
export async function commandsFolder(): Promise<string> {
  const sources = ["kubernetes", "etcd", "pulumi-language-nodejs", "pulumi"].map((name) => goToolFolder(goTool(name)));
  const built = sources.filter((folder) => existsSync(folder));
  return cached("commands", hash(...built), async (folder) => {
    for (const source of built) {
      for (const name of readdirSync(join(source, "bin"))) {
        if (/^(kubectl|etcdctl|pulumi.*)$/.test(name)) link(join(source, "bin", name), join(folder, name));
      }
    }
  });
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to); // a cache on a file system without hard links
  }
}
