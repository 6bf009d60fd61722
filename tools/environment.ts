import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { paths } from "./cluster/clone.ts";
import { fixed, readSettings, type Settings } from "./cluster/settings.ts";
import { etcdVersion, olderEtcds } from "./images.ts";
import { isRunning } from "./process-identity.ts";
import { commandsFolder } from "./tools.ts";

/** The kubeconfig of a cluster that the user named to be used instead of a local one. */
export function givenKubeconfig(): string | undefined {
  return process.env.PULUMI_ETCD_KUBECONFIG || undefined;
}

/** The variables that Pulumi programs and tests run with; those of the cluster only if it is running. */
export async function environment(): Promise<Record<string, string>> {
  const given = givenKubeconfig();
  const settings = given ? undefined : runningCluster();
  return {
    PATH: [await commandsFolder(), dirname(process.execPath), process.env.PATH].join(delimiter),
    ...pulumi(settings !== undefined),
    ...(settings ? cluster(settings) : {}),
    ...(given && { KUBECONFIG: given }),
  };
}

export function runningCluster(): Settings | undefined {
  const settings = readSettings();
  return settings?.ready && isRunning(settings.keeper) ? settings : undefined;
}

/** Keeps local stacks apart from the user's own Pulumi login. */
function pulumi(withCluster: boolean): Record<string, string> {
  // Stacks that describe the cluster's objects go when it goes; others stay.
  const state = withCluster ? paths.pulumiState : paths.detachedPulumiState;
  if (!existsSync(state)) mkdirSync(state, { recursive: true, mode: 0o700 });
  return {
    PULUMI_HOME: paths.pulumiHome,
    PULUMI_BACKEND_URL: `file://${state}`,
    // It protects nothing: the stacks' secrets are those of a throwaway cluster.
    PULUMI_CONFIG_PASSPHRASE: "local",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    // Types are checked by `make typecheck`; checking them anew in every run takes most of a preview.
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
}

function cluster(settings: Settings): Record<string, string> {
  return {
    KUBECONFIG: paths.kubeconfig,
    // kubectl remembers what an address serves; the next cluster may have the same address and serve something else.
    KUBECACHEDIR: join(paths.cluster, "kubectl-cache"),
    PULUMI_ETCD_LOCAL_NODE_ADDRESS: settings.nodeAddress,
    PULUMI_ETCD_LOCAL_HOST_ADDRESS: settings.hostAddress,
    PULUMI_ETCD_LOCAL_DNS_ADDRESS: settings.nodeAddress,
    PULUMI_ETCD_LOCAL_CLUSTER_DOMAIN: fixed.clusterDomain,
    PULUMI_ETCD_LOCAL_STORAGE_CLASS: "local",
    PULUMI_ETCD_LOCAL_ETCD_VERSION: etcdVersion(),
    PULUMI_ETCD_LOCAL_ETCD_IMAGE: `localhost/etcd:${etcdVersion()}`,
    PULUMI_ETCD_LOCAL_ETCD_OLDER: olderEtcds()
      .map(({ version }) => version)
      .join(","),
    PULUMI_ETCD_LOCAL_STATE: paths.cluster,
    PULUMI_ETCD_LOCAL_LOGS: paths.logs,
  };
}
