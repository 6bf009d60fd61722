import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cached, hash } from "./cache.ts";
import { debianFolder, fetchDebianPackages, fetchTestPrograms, testProgramsFolder } from "./debian.ts";
import { UserError } from "./errors.ts";
import { link } from "./files.ts";
import { prepare } from "./go-build.ts";
import { type GoTool, goTools } from "./go-tool-list.ts";
import { buildGoTool, goTool, goToolFolder } from "./go-tools.ts";
import { step } from "./progress.ts";
import { recordTime } from "./tool-times.ts";
import { WorkList } from "./work-list.ts";

interface Tool {
  name: string;
  action: string;
  folder: () => string;
  make: () => Promise<void>;
  /** About how many seconds of one core it takes on a machine that has nothing. */
  seconds: number;
}

const debian: Tool = {
  name: "debian",
  action: "fetching containerd, runc, CNI plugins and nftables",
  folder: debianFolder,
  make: fetchDebianPackages,
  seconds: 6,
};

const testPrograms: Tool = {
  name: "test-programs",
  action: "fetching an SSH server and OpenSSL",
  folder: testProgramsFolder,
  make: fetchTestPrograms,
  seconds: 6,
};

function allTools(): Tool[] {
  return [debian, testPrograms, ...goTools.map(asTool)];
}

function asTool(tool: GoTool): Tool {
  return {
    name: tool.name,
    action: `building ${Object.values(tool.packages).join(", ")}`,
    folder: () => goToolFolder(tool),
    make: () => buildGoTool(tool),
    seconds: tool.seconds,
  };
}

export function toolNames(): string[] {
  return allTools().map(({ name }) => name);
}

/** What a Pulumi program needs on a cluster that somebody else runs. */
export const pulumiTools = ["pulumi-language-nodejs", "pulumi", "pulumi-resource-tls"];

/** What the local cluster needs. */
export const clusterTools = ["debian", "cluster", "etcd"];

/** What the tests need besides. */
export const testTools = ["test-programs", "etcd-writer", "etcd-3.6", "etcd-3.5"];

/** Makes the named tools that are not there yet, in the order in which they are listed above. */
export async function ensureTools(names: string[], made?: (name: string) => void): Promise<void> {
  const tools = allTools();
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown)
    throw new UserError(`there is no tool "${unknown}": use one of ${tools.map((tool) => tool.name).join(", ")}`);
  const wanted = tools.filter((tool) => names.includes(tool.name));
  const missing = wanted.filter((tool) => !existsSync(tool.folder()));
  const work = new WorkList(missing, availableParallelism());
  for (const tool of wanted) {
    if (missing.includes(tool)) recordTime(tool.name, await work.next(tool.make));
    made?.(tool.name);
  }
}

/**
 * Takes every step that fetches or copies what a tool is made from, into a folder for each tool, and builds nothing.
 * On a machine that has nothing, this shows in a minute what a build would come to in a quarter of an hour.
 */
export async function fetchAll(folder: string): Promise<void> {
  for (const tool of [debian, testPrograms]) await step(tool.action, tool.make);
  for (const tool of goTools) {
    const place = join(folder, tool.name);
    mkdirSync(place, { recursive: true });
    await step(`fetching what ${tool.name} is built from`, () => prepare(tool, place));
  }
}

/**
 * One folder with every command that people and programs call, for PATH.
 *
 * They are hard links, because the Pulumi CLI looks for the language host
 * beside itself after it has resolved symbolic links.
 */
export async function commandsFolder(): Promise<string> {
  const sources = ["cluster", "etcd", "pulumi-language-nodejs", "pulumi"].map((name) => goToolFolder(goTool(name)));
  const built = sources.filter((folder) => existsSync(folder));
  return cached("commands", hash(...built), async (folder) => {
    for (const source of built) {
      for (const name of readdirSync(join(source, "bin"))) {
        if (/^(kubectl|etcdctl|pulumi.*)$/.test(name)) link(join(source, "bin", name), join(folder, name));
      }
    }
  });
}
