import { readFileSync } from "node:fs";
import { type Cluster, KubeConfig, type User } from "@kubernetes/client-node";

/** The variable in which a plugin is told what it is asked for (client-go's credential plugins). */
const EXEC_INFO = "KUBERNETES_EXEC_INFO";

interface Exec {
  apiVersion?: string;
  env?: { name: string; value: string }[] | null;
  provideClusterInfo?: boolean;
}

/**
 * A user whose credential plugin (`exec`) is told what kubectl tells it: the version that it is asked in, and the cluster
 * if it wants to know (`provideClusterInfo`). The client library tells it neither.
 */
export function toldUser(user: User, cluster: Cluster): User {
  const exec = user.exec as Exec | undefined;
  if (!exec) return user;
  const info = {
    apiVersion: exec.apiVersion ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, ...(exec.provideClusterInfo && { cluster: clusterInfo(cluster) }) },
  };
  const env = [...(exec.env ?? []), { name: EXEC_INFO, value: JSON.stringify(info) }];
  return { ...user, exec: { ...exec, env } };
}

/** `Cluster` of client.authentication.k8s.io/v1. */
function clusterInfo({ server, caData, caFile, skipTLSVerify, tlsServerName, proxyUrl }: Cluster): object {
  const ca = caData ?? (caFile ? readFileSync(caFile).toString("base64") : undefined);
  return {
    server,
    ...(tlsServerName && { "tls-server-name": tlsServerName }),
    ...(skipTLSVerify && { "insecure-skip-tls-verify": true }),
    ...(ca && { "certificate-authority-data": ca }),
    ...(proxyUrl && { "proxy-url": proxyUrl }),
  };
}

/**
 * A kubeconfig whose connections show the certificate that the user's plugin handed out last. The client library keeps
 * the agent of its first request, and with it a certificate that may have expired since. Its agents reuse no connection,
 * so a new one for each request costs nothing.
 */
export class CurrentKubeConfig extends KubeConfig {
  override async applyToHTTPSOptions(options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0]): Promise<void> {
    // Not public: a later release that keeps no agents has nothing to forget.
    const { agentCache } = this as unknown as { agentCache?: Map<unknown, unknown> };
    if (this.getCurrentUser()?.exec) agentCache?.clear();
    await super.applyToHTTPSOptions(options);
  }
}
