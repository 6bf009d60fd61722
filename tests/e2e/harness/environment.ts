import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

export const repository = join(__dirname, "..", "..", "..");

/** Files of a run: reports, logs and binaries. PULUMI_ETCD_E2E_FOLDER names another, such as one that CI keeps. */
export const workFolder =
  process.env.PULUMI_ETCD_E2E_FOLDER ?? join(repository, "node_modules", ".cache", "pulumi-etcd-e2e");

/** Where the suite runs: which cluster, with which variables, and how a command gets into its network. */
export interface Environment {
  variables: NodeJS.ProcessEnv;
  kubeconfig: string;
  clusterDomain: string;
  /** Image of the members. Absent: the product's default. */
  image?: string;
  /** Put in front of a command that must resolve and reach pods. */
  inNetwork: string[];
}

/** Why the cases against a cluster are left out; undefined when they are to run. */
export function skipReason(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const match = /^skip(?::\s*(.*))?$/s.exec(env.PULUMI_ETCD_E2E ?? "");
  return match ? match[1]?.trim() || "PULUMI_ETCD_E2E=skip" : undefined;
}

let found: Environment | undefined;

/** The cluster that KUBECONFIG names, else the local one of this clone, which must be running. */
export function environment(): Environment {
  found ??= findEnvironment();
  return found;
}

function findEnvironment(): Environment {
  const given = process.env.KUBECONFIG !== undefined || process.env.PULUMI_ETCD_LOCAL_STATE !== undefined;
  const variables: NodeJS.ProcessEnv = {
    ...process.env,
    ...(!given && localEnvironment()),
    NO_COLOR: "1",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK: "true",
  };
  // Jest's own switches mean nothing to the programs that are tested.
  delete variables.NODE_OPTIONS;
  delete variables.JEST_WORKER_ID;
  variables.PATH = [dirname(process.execPath), variables.PATH].join(delimiter);
  const image = variables.PULUMI_ETCD_E2E_IMAGE ?? variables.PULUMI_ETCD_LOCAL_ETCD_IMAGE;
  return {
    variables,
    kubeconfig: variables.KUBECONFIG || join(homedir(), ".kube", "config"),
    clusterDomain: variables.PULUMI_ETCD_LOCAL_CLUSTER_DOMAIN ?? "cluster.local",
    ...(image && { image }),
    inNetwork: inNetwork(variables),
  };
}

/**
 * PULUMI_ETCD_E2E_IN_NETWORK names a command to put in front; the local cluster has its own, and of any other it is
 * taken that pods can be reached from here.
 */
function inNetwork(variables: NodeJS.ProcessEnv): string[] {
  const given = variables.PULUMI_ETCD_E2E_IN_NETWORK?.split(/\s+/).filter(Boolean);
  if (given) return given;
  return variables.PULUMI_ETCD_LOCAL_STATE ? [process.execPath, ...cli("run", "--in-network", "--")] : [];
}

function cli(...args: string[]): string[] {
  return [join(repository, "tools", "cli.ts"), ...args];
}

function localEnvironment(): NodeJS.ProcessEnv {
  const answer = spawnSync(process.execPath, cli("cluster", "env"), { encoding: "utf8", timeout: 60_000 });
  if (answer.status !== 0) {
    throw new Error(
      `there is no cluster to test against: ${answer.stderr.trim()}. Start the local one, or set KUBECONFIG`,
    );
  }
  const pairs = answer.stdout.split("\n").flatMap((line) => {
    const match = /^([A-Z_]+)=(.*)$/.exec(line);
    return match ? [[match[1], match[2]] as const] : [];
  });
  return Object.fromEntries(pairs);
}
