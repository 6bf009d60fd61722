import { join } from "node:path";
import { paths } from "./cluster/clone.ts";
import { onPath } from "./command.ts";
import { environment, runningCluster } from "./environment.ts";
import { UserError } from "./errors.ts";
import { registerPlugins } from "./pulumi-plugins.ts";
import { ensureTools, pulumiTools } from "./tools.ts";

/** Runs a command with the environment of this clone, in place of this process. */
export async function run(command: string[], options: { inNetwork: boolean }): Promise<never> {
  if (!command.length)
    throw new UserError('run: there is no command: use "run [--in-network] -- COMMAND [ARGUMENT...]"');
  await ensureTools(pulumiTools);
  const env = { ...process.env, ...(await environment()) };
  await registerPlugins(env);
  become(options.inNetwork ? inNetwork(command) : command, env);
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

/**
 * Becomes the command: so signals (a terminal sends Ctrl-C to parent and child
 * alike), the exit code and the terminal are the command's own.
 */
function become([name, ...args]: string[], env: NodeJS.ProcessEnv): never {
  const file = name?.includes("/") ? name : onPath(name as string, env.PATH);
  if (!file) throw new UserError(`run: the command ${name} is not on PATH: check its name`, 127);
  // Node warns that execve is experimental; the command's stderr is not the place for it.
  process.removeAllListeners("warning");
  process.execve?.(file, [name as string, ...args], env);
  throw new UserError(`run: ${file} could not be started: check that it can be executed`, 126);
}
