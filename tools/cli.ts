import { missingAbilities } from "./cluster/capabilities.ts";
import { cloneId, paths } from "./cluster/clone.ts";
import { down } from "./cluster/down.ts";
import { applyCrds, describeLacks, up } from "./cluster/up.ts";
import { environment, givenKubeconfig, runningCluster } from "./environment.ts";
import { UserError } from "./errors.ts";
import { report } from "./progress.ts";
import { run } from "./run.ts";
import { ensureTools, fetchAll, toolNames } from "./tools.ts";

const usage = `usage: cli.ts COMMAND

  tools [NAME...]                  make the tools that this machine lacks: all, or those named
  fetch FOLDER                     take every step that fetches or copies what a tool is made from, and build nothing
  cluster check                    say whether this machine can run a local cluster (exit code 3 if not)
  cluster up                       start the local cluster of this clone, or find it running
  cluster down                     end it and remove all it has left
  cluster status                   say whether it is running (exit code 1 if not)
  cluster env                      print the variables to use it with
  cluster apply-crds FOLDER        apply the CustomResourceDefinitions in a folder
  run [--in-network] -- COMMAND    run a command with those variables, if asked in the cluster's network`;

async function main([command, ...args]: string[]): Promise<number> {
  if (command === "tools") return done(ensureTools(args.length > 0 ? args : toolNames()));
  if (command === "fetch" && args[0]) return done(fetchAll(args[0]));
  if (command === "cluster") return cluster(args);
  if (command === "run") return runCommand(args);
  throw new UserError(usage, 2);
}

async function cluster([command, ...args]: string[]): Promise<number> {
  if (command === "check") return check();
  if (command === "up") return done(up());
  if (command === "down") return done(down());
  if (command === "status") return status();
  if (command === "env") return printEnvironment();
  if (command === "apply-crds" && args[0]) return done(applyCrds(args[0]));
  throw new UserError(usage, 2);
}

function runCommand(args: string[]): Promise<number> {
  const separator = args.indexOf("--");
  const options = args.slice(0, separator);
  if (separator < 0 || options.some((option) => option !== "--in-network")) throw new UserError(usage, 2);
  return run(args.slice(separator + 1), { inNetwork: options.length > 0 });
}

function check(): number {
  const lacks = missingAbilities();
  if (lacks.length) throw new UserError(describeLacks(lacks), 3);
  report("this machine can run a local cluster");
  return 0;
}

function status(): number {
  const settings = runningCluster();
  if (!settings) {
    process.stdout.write(`cluster ${cloneId}: not running\n`);
    return 1;
  }
  const server = `API server https://${settings.nodeAddress}:6443`;
  process.stdout.write(
    `cluster ${cloneId}: running, ${server}, KUBECONFIG=${paths.kubeconfig}, logs in ${paths.logs}\n`,
  );
  return 0;
}

async function printEnvironment(): Promise<number> {
  if (!givenKubeconfig() && !runningCluster())
    throw new UserError('cluster env: the cluster is not running: start it with "cluster up"');
  for (const [name, value] of Object.entries(await environment())) process.stdout.write(`${name}=${value}\n`);
  return 0;
}

async function done(work: Promise<void>): Promise<number> {
  await work;
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  report(error instanceof UserError ? error.message : String((error as Error).stack ?? error));
  process.exitCode = error instanceof UserError ? error.exitCode : 1;
}
