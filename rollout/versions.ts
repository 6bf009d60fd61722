import { memberName } from "../config/names";
import type { ConfigProblem, EtcdSpec } from "../config/types";
import { isNewerMinor, jumpProblem, type Minor, minorOf, minorsBetween, nextMinor } from "../config/versions";
import type { LivePod, MemberVersions } from "./ports";
import type { ClusterView } from "./view";

/** What the members say of versions, read at one moment. */
export interface LiveVersions {
  members: ({ name: string } & MemberVersions)[];
  /** Members that did not answer. */
  silent: string[];
}

/** Asks every member; who does not answer, or has no pod, is named, and no error. */
export async function readVersions(view: ClusterView, pods: LivePod[]): Promise<LiveVersions> {
  const names = Array.from({ length: view.spec.replicas }, (_, ordinal) => memberName(view.spec, ordinal));
  const answers = await Promise.all(
    names.map(async (name) => {
      const pod = pods.find((candidate) => candidate.name === name && candidate.ready && !candidate.terminating);
      const versions = pod && (await view.versions(pod).catch(() => undefined));
      return versions ? { name, ...versions } : undefined;
    }),
  );
  return {
    members: answers.filter((answer) => answer !== undefined),
    silent: names.filter((_, index) => answers[index] === undefined),
  };
}

/** What has to be done about the version besides restarting the members. */
export type VersionStep =
  | { kind: "cancel"; to: Minor }
  | { kind: "downgrade"; to: Minor }
  | { kind: "snapshot" }
  | { kind: "settle"; to: Minor };

/** The words of the steps: preview prints them, the walk records them. */
export function versionStepText(step: VersionStep): string {
  switch (step.kind) {
    case "cancel":
      return `cancel the downgrade to etcd ${step.to}`;
    case "downgrade":
      return `enable the downgrade to etcd ${step.to}, and wait until every member has migrated its data`;
    case "snapshot":
      return "let every member write a snapshot, so that none has entries of etcd 3.5 to read again";
    case "settle":
      return `wait until the cluster speaks etcd ${step.to}`;
  }
}

/** Before the first restart and after the last one, as far as the members have said what they are. */
export interface VersionPlan {
  before: VersionStep[];
  after: VersionStep[];
}

const NOTHING: VersionPlan = { before: [], after: [] };

/** `restarts`: whether members will be restarted, with the spec's version. */
export function planVersions({ version }: EtcdSpec, live: LiveVersions, restarts: boolean): VersionPlan {
  if (live.members.length === 0) return NOTHING;
  const target = minorOf(version);
  const downgrade = downgradeOf(live);
  const before: VersionStep[] = [];
  if (downgrade !== undefined && downgrade !== target) before.push({ kind: "cancel", to: downgrade });
  if ((restarts || downgrade === target) && mustDowngrade(live, target)) before.push({ kind: "downgrade", to: target });
  if (restarts && needsSnapshot(live, target)) before.push({ kind: "snapshot" });
  const arrives = restarts || downgrade === target || live.members.every(({ server }) => minorOf(server) === target);
  const differs = clusterOf(live, target) !== target || spoken(live) !== target || downgrade !== undefined;
  return { before, after: arrives && differs ? [{ kind: "settle", to: target }] : [] };
}

/** The release that a downgrade is enabled to. */
export function downgradeOf({ members }: LiveVersions): Minor | undefined {
  const [to] = members.flatMap(({ downgradeTo }) => (downgradeTo === undefined ? [] : [downgradeTo]));
  return to === undefined ? undefined : minorOf(to);
}

/** The newest protocol that a member says the cluster speaks. */
export function spoken({ members }: LiveVersions): Minor | undefined {
  const all = members.flatMap(({ cluster }) => (cluster === undefined ? [] : [minorOf(cluster)]));
  return all.sort((a, b) => minorsBetween(a, b)).at(0);
}

/**
 * What the cluster speaks, or will in a few seconds: it follows its oldest member by itself, unless a downgrade is enabled.
 * One to another release than `target` is cancelled first.
 */
export function clusterOf(live: LiveVersions, target: Minor): Minor {
  const [oldest] = live.members.map(({ server }) => minorOf(server)).sort((a, b) => minorsBetween(b, a));
  const now = spoken(live) ?? oldest!;
  return downgradeOf(live) !== target && isNewerMinor(oldest!, now) ? oldest! : now;
}

/**
 * Why a member must not be started with the spec's version now; undefined where it may. Where every pod was made again
 * from a newer template, the cluster has gone on to its release in the middle of a walk back.
 */
export async function overtaken(view: ClusterView): Promise<string | undefined> {
  const target = minorOf(view.spec.version);
  const live = await readVersions(view, await view.pods());
  if (live.members.length === 0) return undefined;
  const cluster = clusterOf(live, target);
  if (!isNewerMinor(cluster, target)) return undefined;
  return `the cluster has gone on to etcd ${cluster} meanwhile, and no member of ${target} would start: run the update again`;
}

/** Whether a member of that release would not start, or not on the data of every member. */
function mustDowngrade(live: LiveVersions, target: Minor): boolean {
  if (isNewerMinor(clusterOf(live, target), target)) return true;
  return live.members.some(({ storage }) => storage !== undefined && isNewerMinor(minorOf(storage), target));
}

/**
 * etcd 3.7 cannot read what members of 3.5 wrote into the log when they started, and reads all that came after the last
 * snapshot. 3.6 writes one after 10,000 entries: a cluster that is quiet, or was upgraded just now, has none.
 */
export function needsSnapshot({ members }: LiveVersions, target: Minor): boolean {
  return target === "3.7" && members.every(isOf36) && members.some(({ snapshots }) => snapshots === 0);
}

function isOf36({ server }: MemberVersions): boolean {
  return minorOf(server) === "3.6";
}

/** Why the members cannot be restarted with the spec's version, one after the other. */
export function versionProblems({ version }: EtcdSpec, live: LiveVersions): ConfigProblem[] {
  for (const { name, server } of live.members) {
    const problem = jumpProblem(server, version);
    if (problem)
      return [{ path: "etcd:version", value: version, ...problem, rule: `${problem.rule}; ${name} runs ${server}` }];
  }
  const target = minorOf(version);
  const cluster = live.members.length > 0 ? clusterOf(live, target) : target;
  if (Math.abs(minorsBetween(cluster, target)) <= 1) return [];
  return [
    {
      path: "etcd:version",
      value: version,
      rule: `must be next to the release whose protocol the cluster speaks, ${cluster}`,
      mend: `Go to ${nextMinor(cluster, Math.sign(minorsBetween(cluster, target)))} first`,
    },
  ];
}

/**
 * Why nobody knows whether the members can be restarted with the spec's version: none of them answers. `from`: the
 * version that was asked for last. Members that were broken by a change to another are brought back to it nevertheless.
 */
export function silenceProblem({ version }: EtcdSpec, live: LiveVersions, from: string | undefined): ConfigProblem[] {
  if (live.members.length > 0 || from === undefined || minorOf(from) === minorOf(version)) return [];
  return [
    {
      path: "etcd:version",
      value: version,
      rule: `must not change the minor release of etcd while no member says which one it runs (${live.silent.join(", ") || "there is none"})`,
      mend: `Fix the members first, with etcd:version ${from}`,
    },
  ];
}

/** What a change of version means, for whoever reads the preview. */
export function versionNotes(spec: EtcdSpec, live: LiveVersions, restarts: boolean): string[] {
  const { version } = spec;
  const running = [...new Set(live.members.map(({ server }) => server))].sort();
  if (running.length === 0 || running.every((each) => each === version)) return [];
  if (!restarts)
    return spec.hosts && running.some((each) => minorOf(each) !== minorOf(version)) ? [otherBinary(spec, running)] : [];
  return [`etcd ${running.join(", ")} -> ${version}${consequence(live, minorOf(version))}`];
}

function otherBinary({ version, hosts }: EtcdSpec, running: string[]): string {
  return `members run etcd ${running.join(", ")}, and etcd:version is ${version}: ${hosts!.binary} is theirs to start; replace it on every host and set rollout.restart, or hand a binary in`;
}

function consequence(live: LiveVersions, target: Minor): string {
  const steps = minorsBetween(clusterOf(live, target), target);
  if (steps > 0) return `; once every member runs ${target}, the way back is a downgrade`;
  if (steps < 0) return `; what ${nextMinor(target)} brought is not available any more once the downgrade is enabled`;
  return "";
}
