import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Cluster, type Context, KubeConfig, type User } from "@kubernetes/client-node";
import { CurrentKubeConfig, toldUser } from "./exec-plugin";
import { KubeError } from "./kube-error";
import { proxyFor } from "./proxy";

/** Where the Kubernetes cluster is, and as whom it is talked to. */
export interface ClusterAccess {
  /**
   * Path of a kubeconfig file, several paths joined as in `KUBECONFIG`, or the content of one (YAML or JSON).
   * Default, as kubectl has it: the files that `KUBECONFIG` names, else `~/.kube/config`, else the service
   * account of the pod that this runs in.
   */
  kubeconfig?: string;
  /** Context of the kubeconfig. Default: its current context. */
  context?: string;
  /** Cluster of the kubeconfig, in place of the one that the context names. */
  cluster?: string;
}

/**
 * Reads the kubeconfig.
 *
 * @throws KubeError with reason `Kubeconfig` where there is none, it cannot be read, or it lacks the context or
 * cluster asked for. The message never quotes the content: it holds credentials.
 */
export function loadKubeConfig(access: ClusterAccess, env: NodeJS.ProcessEnv = process.env): KubeConfig {
  const merged = merge(readAll(access, env));
  if (access.context !== undefined) merged.setCurrentContext(access.context);
  const context = merged.getContextObject(merged.getCurrentContext());
  if (!context) {
    const known = merged.getContexts().map((candidate) => candidate.name);
    const wanted = merged.getCurrentContext()
      ? `has no context "${merged.getCurrentContext()}"`
      : "sets no current-context";
    throw invalid(`the kubeconfig ${wanted}; its contexts: ${known.join(", ") || "none"}`);
  }
  return select(merged, { ...context, cluster: access.cluster ?? context.cluster }, env);
}

/** Address of the API server that a loaded kubeconfig points at. */
export function serverOf(config: KubeConfig): string {
  return config.getCurrentCluster()?.server ?? "(no cluster)";
}

function readAll(access: ClusterAccess, env: NodeJS.ProcessEnv): KubeConfig[] {
  const given = access.kubeconfig?.trim();
  if (given && isContent(given))
    return [parse("the kubeconfig given as text", (config) => config.loadFromString(given))];
  const list = given || env.KUBECONFIG;
  if (!list) return [readDefault(env)];
  const paths = list.split(delimiter).filter(Boolean).map(expandHome);
  // As kubectl does: a file of the list that does not exist is passed over.
  const found = paths.filter((path) => existsSync(path));
  if (found.length === 0) throw invalid(`no kubeconfig file at ${paths.join(", ")}`);
  return found.map((path) => parse(path, (config) => config.loadFromFile(path)));
}

function readDefault(env: NodeJS.ProcessEnv): KubeConfig {
  const path = join(env.HOME || homedir(), ".kube", "config");
  if (existsSync(path)) return parse(path, (config) => config.loadFromFile(path));
  if (env.KUBERNETES_SERVICE_HOST) return parse("the pod's service account", (config) => config.loadFromCluster());
  throw invalid(`no kubeconfig: KUBECONFIG is not set, ${path} does not exist, and this does not run in a pod`);
}

function parse(origin: string, load: (config: KubeConfig) => void): KubeConfig {
  const config = new KubeConfig();
  try {
    load(config);
  } catch (error) {
    // A YAML error quotes the lines around the mistake, and those may be a token or a key.
    const { reason, mark, code } = error as { reason?: string; mark?: { line: number }; code?: string };
    const place = mark ? ` at line ${mark.line + 1}` : "";
    const why = reason ?? code ?? (error instanceof TypeError ? "not a kubeconfig" : (error as Error).message);
    throw invalid(`${origin} cannot be read: ${why}${place}`);
  }
  return config;
}

/** Merges as kubectl does: for every name, and for the current context, the first file that has it wins. */
function merge(configs: KubeConfig[]): KubeConfig {
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((config) => config.getClusters() ?? [])),
    users: firstOfEachName(configs.flatMap((config) => config.getUsers() ?? [])),
    contexts: firstOfEachName(configs.flatMap((config) => config.getContexts() ?? [])),
    currentContext: configs.map((config) => config.getCurrentContext()).find(Boolean),
  });
  return merged;
}

function firstOfEachName<T extends { name: string }>(items: T[]): T[] {
  return items.filter((item, index) => items.findIndex((other) => other.name === item.name) === index);
}

function select(config: KubeConfig, context: Context, env: NodeJS.ProcessEnv): KubeConfig {
  const cluster = config.getCluster(context.cluster);
  if (!cluster) {
    const known = config.getClusters().map((candidate) => candidate.name);
    throw invalid(`the kubeconfig has no cluster "${context.cluster}"; its clusters: ${known.join(", ") || "none"}`);
  }
  const user: User = config.getUser(context.user) ?? { name: context.user ?? "" };
  const selected = new CurrentKubeConfig();
  selected.loadFromOptions({
    clusters: [usable(cluster, env)],
    users: [toldUser(user, cluster)],
    contexts: [{ ...context, user: user.name }],
    currentContext: context.name,
  });
  return selected;
}

/**
 * The client library refuses `http://` servers (`kubectl proxy`) unless told that there is no TLS to verify, and knows no
 * proxy but the one that the kubeconfig names.
 */
function usable(cluster: Cluster, env: NodeJS.ProcessEnv): Cluster {
  const proxyUrl = cluster.proxyUrl ?? proxyFor(cluster.server, env);
  const plain = cluster.server.startsWith("http:");
  return { ...cluster, ...(proxyUrl && { proxyUrl }), ...(plain && { skipTLSVerify: true }) };
}

function isContent(text: string): boolean {
  return text.includes("\n") || text.startsWith("{") || text.startsWith("apiVersion:");
}

function expandHome(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

function invalid(detail: string): KubeError {
  return new KubeError({ reason: "Kubeconfig", server: "(not known)", verb: "read", object: "kubeconfig", detail });
}
