import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { repository } from "./cluster/clone.ts";
import { output } from "./command.ts";
import { emptyMachine } from "./empty-machine.ts";
import { UserError } from "./errors.ts";
import { duration, report } from "./progress.ts";
import type { ToolTime } from "./tool-times.ts";

/** A command that was run, and what it took. */
interface Stage {
  command: string;
  seconds: number;
  /** How much of all cores the whole machine was busy meanwhile, from 0 to 1. */
  busy: number;
  tools: ToolTime[];
}

const folder = mkdtempSync(join(tmpdir(), "pulumi-etcd-cold-"));
const clone = join(folder, "clone");
const times = join(folder, "tool-times");

try {
  await output("git", ["clone", "--quiet", repository, clone]);
  const commit = (await output("git", ["describe", "--always", "--dirty"], { cwd: repository })).trim();
  if (commit.endsWith("-dirty")) report("what is not committed is not part of this run");
  const env = { ...emptyMachine(folder), PULUMI_ETCD_TOOL_TIMES: times };
  const stages: Stage[] = [];
  try {
    for (const command of ["make demo", "make test-quick"]) stages.push(run(command, env));
  } finally {
    spawnSync("make", ["demo-down"], { cwd: clone, env, stdio: "inherit" });
  }
  writeFileSync(join(repository, "docs/cold-start.md"), document(stages));
  report(`${duration(total(stages))} in all: see docs/cold-start.md`);
} catch (error) {
  report(error instanceof UserError ? error.message : String((error as Error).stack ?? error));
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(command: string, env: NodeJS.ProcessEnv): Stage {
  rmSync(times, { force: true });
  const [started, before] = [Date.now(), busyTimes()];
  const { status } = spawnSync(command, { shell: true, cwd: clone, env, stdio: "inherit" });
  if (status !== 0) throw new UserError(`\`${command}\` failed on a machine that has nothing: see above`);
  const after = busyTimes();
  return {
    command,
    seconds: (Date.now() - started) / 1000,
    busy: (after.busy - before.busy) / (after.all - before.all),
    tools: existsSync(times) ? readTimes() : [],
  };
}

function readTimes(): ToolTime[] {
  const lines = readFileSync(times, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

function busyTimes(): { busy: number; all: number } {
  const all = cpus().map(({ times: { idle, ...others } }) => {
    const busy = Object.values(others).reduce((sum, value) => sum + value, 0);
    return { busy, all: busy + idle };
  });
  return all.reduce((sum, cpu) => ({ busy: sum.busy + cpu.busy, all: sum.all + cpu.all }));
}

function total(stages: Stage[]): number {
  return stages.reduce((sum, { seconds }) => sum + seconds, 0);
}

function document(stages: Stage[]): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const rows = stages.flatMap(({ command, seconds, busy, tools }) => {
    const made = tools.reduce((sum, tool) => sum + tool.seconds, 0);
    return [
      [`**\`${command}\`**`, `**${duration(seconds)}**`, share(seconds, stages), `${Math.round(busy * 100)} %`],
      ...tools.map((tool) => [tool.name, duration(tool.seconds), share(tool.seconds, stages), ""]),
      ...(tools.length > 0 ? [["the rest", duration(seconds - made), share(seconds - made, stages), ""]] : []),
    ];
  });
  const lines = [["what", "time", "of all", "cores busy"], ["---", "---:", "---:", "---:"], ...rows];
  return `# From nothing

Made by \`make test-cold\`: \`make demo\` and \`make test-quick\` in a fresh clone, with empty folders in the place of HOME and
of every cache that npm, Go and apt have. What a tool needs is fetched and built; nothing was there before.

This was a machine of ${cpus().length} cores and ${memory} GB. It took **${duration(total(stages))}**.

${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}

The rest of \`make demo\` is Node and the npm packages, the start of the cluster, which runs beside the building of the
Pulumi tools, and the update itself. What made it as short as this is in
[adr/0008-one-module-for-the-tools.md](adr/0008-one-module-for-the-tools.md).
`;
}

function share(seconds: number, stages: Stage[]): string {
  return `${Math.round((100 * seconds) / total(stages))} %`;
}
