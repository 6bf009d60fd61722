import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { paths } from "./cluster/clone.ts";
import { environment, runningCluster } from "./environment.ts";
import { UserError } from "./errors.ts";
import { registerPlugins } from "./pulumi-plugins.ts";
import { ensureTools, pulumiTools } from "./tools.ts";

const forwarded: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Runs a command with the environment of this clone and returns its exit code. */
export async function run(command: string[], options: { inNetwork: boolean }): Promise<number> {
  if (!command.length)
    throw new UserError('run: there is no command: use "run [--in-network] -- COMMAND [ARGUMENT...]"');
  await ensureTools(pulumiTools);
  const env = { ...process.env, ...(await environment()) };
  await registerPlugins(env);
  return exec(options.inNetwork ? inNetwork(command) : command, env);
}

/**
 * The command in the cluster's network namespace, with the cluster's DNS in a
 * mount namespace of its own. Each part replaces itself with the next, so that
 * signals reach the command.
 */
function inNetwork(command: string[]): string[] {
  const keeper = runningCluster()?.keeper;
  if (!keeper) throw new UserError('run --in-network: the cluster is not running: start it with "cluster up"');
  const resolvConf = join(paths.cluster, "config", "resolv.conf");
  const script = 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"';
  return [
    "nsenter",
    `--net=/proc/${keeper.pid}/ns/net`,
    "--",
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "--",
    "sh",
    "-euc",
    script,
    "sh",
    resolvConf,
    ...command,
  ];
}

function exec([name, ...args]: string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(name as string, args, { env, stdio: "inherit" });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of forwarded) process.on(signal, forward);
    child.on("error", (error) => reject(new UserError(`${name} could not be started: ${error.message}`, 127)));
    child.on("close", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
