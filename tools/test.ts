import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingAbilities } from "./cluster/capabilities.ts";
import { repository } from "./cluster/clone.ts";
import { down } from "./cluster/down.ts";
import { describeLacks, up } from "./cluster/up.ts";
import { environment, givenKubeconfig, runningCluster } from "./environment.ts";
import { elapsed, report } from "./progress.ts";
import { registerPlugins } from "./pulumi-plugins.ts";
import { testEnvironment } from "./test-environment.ts";
import { clusterTools, ensureTools, pulumiTools, testTools } from "./tools.ts";

/** What a part of the tests came to. */
interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

const e2e = ["--config", "tests/e2e/jest.config.js"];

/** What the cases that run alone leave for a look; the others use the suite's own folder. */
const aloneFolder = join(repository, "node_modules", ".cache", "pulumi-etcd-e2e-alone");

const none: Tally = { passed: 0, failed: 0, skipped: 0 };

/** Runs a command that is one check by itself. */
function check(title: string, command: string[]): Tally {
  const started = Date.now();
  const { status } = spawnSync(command[0] as string, command.slice(1), { cwd: repository, stdio: "inherit" });
  report(`${title}: ${status === 0 ? "passed" : "FAILED"} (${elapsed(started)})`);
  return { ...none, [status === 0 ? "passed" : "failed"]: 1 };
}

/** Runs Jest and counts its cases; a suite that could not run at all is a failure, too. */
function jest(title: string, args: string[], env: NodeJS.ProcessEnv): Tally {
  const started = Date.now();
  const folder = mkdtempSync(join(tmpdir(), "pulumi-etcd-test-"));
  const result = join(folder, "result.json");
  const command = ["--experimental-vm-modules", "--no-warnings=ExperimentalWarning", "node_modules/jest/bin/jest.js"];
  const { status } = spawnSync(process.execPath, [...command, "--json", `--outputFile=${result}`, ...args], {
    cwd: repository,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const tally = count(result, status);
  rmSync(folder, { recursive: true });
  report(`${title}: ${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped (${elapsed(started)})`);
  return tally;
}

function count(file: string, status: number | null): Tally {
  try {
    const json = JSON.parse(readFileSync(file, "utf8"));
    const tally = {
      passed: json.numPassedTests,
      failed: json.numFailedTests + json.numRuntimeErrorTestSuites,
      skipped: json.numPendingTests + json.numTodoTests,
    };
    return status !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
  } catch {
    return { ...none, failed: 1 };
  }
}

function sum(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** Tests that run SSH servers and members. */
const HOSTS = "/tests/rollout/adapters/hosts/";

/** Walks of the simulated world: they only compute. */
const SIMULATION = "/tests/rollout/(walk-|checks-can-fail)";

/** What it takes on a machine that has nothing: it fetches from the package registries. */
const EMPTY_MACHINE = "/tests/tools/empty-machine";

/** Some unit tests talk to etcd processes; without an etcd they skip and say so. */
async function unit(): Promise<Tally> {
  await make("etcd", ...testTools);
  const ignored = ["/node_modules/", "/tests/e2e/", HOSTS, SIMULATION, EMPTY_MACHINE].map(
    (path) => `--testPathIgnorePatterns=${path}`,
  );
  // Times are looked at in some of them, and in none of the simulated ones, which are what takes long.
  const tally = jest("unit tests", ignored, testEnvironment());
  return sum(tally, jest("simulated world", ["--maxWorkers=100%", SIMULATION], process.env));
}

/** One file after the other: three members with their SSH servers are as much as a small machine carries. */
async function hosts(): Promise<Tally> {
  await make("etcd", "test-programs");
  return jest("hosts", ["--runInBand", HOSTS], testEnvironment());
}

/** Tests that lack a tool skip and say so. */
async function make(...tools: string[]): Promise<void> {
  await ensureTools(tools).catch((error: Error) => report(`${tools.join(", ")}: ${error.message}`));
}

/**
 * The end-to-end suite, on the cluster that the user named or on the local one; a local one that was not running
 * before does not run afterwards.
 */
async function endToEnd(args = e2e): Promise<Tally> {
  if (givenKubeconfig()) {
    await ensureTools([...pulumiTools, ...testTools]);
    return onCluster(args);
  }
  const lacks = missingAbilities();
  if (lacks.length > 0) return withoutCluster(describeLacks(lacks), args);
  await ensureTools([...clusterTools, ...pulumiTools, ...testTools]);
  const found = runningCluster() !== undefined;
  await up();
  try {
    return await onCluster(args);
  } finally {
    if (!found) await down();
  }
}

/** Two cases at a time wait less than one: each has a namespace of its own. Then those that need the cluster alone. */
async function onCluster(args: string[]): Promise<Tally> {
  const env = testEnvironment({ ...process.env, ...(await environment()) });
  await registerPlugins(env);
  if (process.env.PULUMI_ETCD_E2E_REPORT || process.env.PULUMI_ETCD_E2E_FAULTS_REPORT)
    return jest("end-to-end tests", [...args, "--runInBand"], env);
  const others = { ...env, PULUMI_ETCD_E2E_BESIDE: "others" };
  const nobody = { ...env, PULUMI_ETCD_E2E_BESIDE: "nobody", PULUMI_ETCD_E2E_FOLDER: aloneFolder };
  const tally = jest("end-to-end tests, side by side", [...args, "--maxWorkers=2"], others);
  return sum(tally, jest("end-to-end tests, one by one", [...args, "--runInBand"], nobody));
}

/** On a machine that cannot run containers the cases are skipped, and say so; in CI that is a failure. */
function withoutCluster(reason: string, args: string[]): Tally {
  report(`end-to-end tests skipped: ${reason}`);
  const skipped = jest("end-to-end tests", args, { ...process.env, PULUMI_ETCD_E2E: `skip: ${reason}` });
  if (!process.env.CI) return skipped;
  report("in CI the end-to-end tests must not be skipped");
  return { ...skipped, failed: skipped.failed + 1 };
}

const parts: Record<string, () => Tally | Promise<Tally>> = {
  lint: () => check("lint", ["npx", "biome", "check", "."]),
  typecheck: () => check("type check", ["npm", "run", "--silent", "typecheck"]),
  unit,
  fetch: () => jest("an empty machine", [EMPTY_MACHINE], process.env),
  hosts,
  e2e: () => endToEnd(),
};

/** Not part of a run of everything: the end-to-end part has one fault of each kind. */
const onDemand: typeof parts = { faults: () => endToEnd([...e2e, "tests/e2e/faults/"]) };

const wanted = process.argv.slice(2);
let total = none;
for (const [name, run] of Object.entries({ ...parts, ...onDemand })) {
  if (wanted.length > 0 ? !wanted.includes(name) : name in onDemand) continue;
  total = sum(total, await run());
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
