import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import istanbul, { type CoverageSummary } from "istanbul-lib-coverage";
import { repository } from "./cluster/clone.ts";
import { elapsed, report } from "./progress.ts";
import { testEnvironment } from "./test-environment.ts";
import { ensureTools } from "./tools.ts";

/** Of the planner's and the engine's branches, how many the simulation and its unit tests must go through. */
const LEAST_BRANCHES = 95;

/** What a search has counted; see tests/rollout/world/tally.ts. */
interface Counts {
  [count: string]: number | Record<string, number>;
}

type Branches = CoverageSummary["branches"];

const folder = mkdtempSync(join(tmpdir(), "pulumi-etcd-simulation-"));
const started = Date.now();
const passed = await runTests();
report(`simulation: ${passed ? "passed" : "FAILED"} (${elapsed(started)})`);
if (passed) {
  const coverage = readCoverage();
  const counts = readCounts();
  writeFileSync(join(repository, "docs/simulation.md"), document(counts, coverage));
  const { pct } = coverage.total;
  report(`${counts.schedules} schedules, ${counts.checks} checks, ${pct} % of the branches; see docs/simulation.md`);
  if (pct < LEAST_BRANCHES) report(`of the branches at least ${LEAST_BRANCHES} % must be covered`);
  process.exitCode = pct < LEAST_BRANCHES ? 1 : 0;
} else process.exitCode = 1;
rmSync(folder, { recursive: true });

/** The engine's unit tests, the simulation among them, and its walks over hosts. Its adapters have tests of their own. */
async function runTests(): Promise<boolean> {
  await ensureTools(["etcd", "test-programs"]);
  // Members on hosts are processes, and times are looked at: nothing runs beside them.
  return (
    jest("world", "--testPathPatterns=tests/rollout/[a-z0-9-]+\\.test\\.ts$") &&
    jest("hosts", "--runInBand", "--testPathPatterns=tests/rollout/adapters/hosts/")
  );
}

function jest(part: string, ...args: string[]): boolean {
  const node = ["--experimental-vm-modules", "--no-warnings=ExperimentalWarning", "node_modules/jest/bin/jest.js"];
  const coverage = [
    "--coverage",
    `--coverageDirectory=${join(folder, part)}`,
    "--coverageReporters=json",
    "--collectCoverageFrom=rollout/*.ts",
  ];
  const env = { ...testEnvironment(), ROLLOUT_TALLY: join(folder, "tally") };
  return (
    spawnSync(process.execPath, [...node, ...coverage, ...args], { cwd: repository, env, stdio: "inherit" }).status ===
    0
  );
}

/** What the parts go through together. */
function readCoverage(): { total: Branches; files: [string, Branches][] } {
  const map = istanbul.createCoverageMap();
  for (const part of ["world", "hosts"]) {
    map.merge(JSON.parse(readFileSync(join(folder, part, "coverage-final.json"), "utf8")));
  }
  const files = map
    .files()
    .map((file): [string, Branches] => [basename(file), map.fileCoverageFor(file).toSummary().branches]);
  return {
    total: map.getCoverageSummary().branches,
    files: files.filter(([, { total }]) => total > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

function readCounts(): Counts {
  const parts = readdirSync(join(folder, "tally")).map((file) =>
    JSON.parse(readFileSync(join(folder, "tally", file), "utf8")),
  );
  return parts.reduce(sum, {} as Counts);
}

function sum(a: Counts, b: Counts): Counts {
  const out: Counts = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = out[name];
    out[name] =
      typeof value === "number"
        ? ((before as number | undefined) ?? 0) + value
        : (sum((before as Counts) ?? {}, value) as Record<string, number>);
  }
  return out;
}

function document(counts: Counts, { total, files }: ReturnType<typeof readCoverage>): string {
  const number = (name: string) => thousands(counts[name] as number);
  const group = (name: string) => counts[name] as Record<string, number>;
  return `# Simulation

The engine, planner and all, is run against a simulated Kubernetes, cert-manager and etcd in virtual time
(\`tests/rollout/world\`), while things go wrong. Made by \`make simulate\`; \`make test-unit\` runs the same schedules.

${table(
  ["what", "how many"],
  [
    ["schedules", number("schedules")],
    ["updates (previews and walks) that were run in them", number("updates")],
    ["calls of the engine to Kubernetes and etcd", number("calls")],
    ["checks of the invariants, one after every call and every 200 ms of virtual time", number("checks")],
    ["members restarted by the engine", number("evictions")],
    ["updates killed", number("kills")],
    ["updates refused in preview", number("refusals")],
    ["schedules with a learner among the members", number("learners")],
    ["promises broken", "0"],
  ],
)}

A schedule that breaks a promise fails the run, and is printed with the line that replays it; those that once did are
kept in \`tests/rollout/regressions.ts\`. That each check can fail is tested in \`checks-can-fail.test.ts\`.

## How the schedules ended

Each of them in the state that was asked for last, with nothing left to do: otherwise a promise is broken.

${table(["ending", "schedules"], rows(group("endings")))}

## What was changed

${table(["change", "schedules"], rows(group("changes")))}

## What went wrong

${table(["fault", "times"], rows(group("faults")))}

## Branches of the planner and the engine

${total.covered} of ${total.total} branches of \`rollout/*.ts\` are gone through by the engine's unit tests and its walks over hosts together: ${total.pct} %. At least ${LEAST_BRANCHES} % must be.

${table(
  ["file", "branches", "covered"],
  files.map(([file, { total: all, pct }]) => [file, String(all), `${pct} %`]),
)}
`;
}

function rows(counts: Record<string, number>): string[][] {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => [name, thousands(times)]);
}

function table(head: string[], lines: string[][]): string {
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [row(head), row(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...lines.map(row)].join("\n");
}

function thousands(value: number): string {
  return value.toLocaleString("en-US");
}
