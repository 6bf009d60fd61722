import { trustBundleName } from "../config/names";
import type { Alias, EtcdSpec } from "../config/types";
import { PLAIN, stageOf, trustRevision } from "../manifests";
import type { MemberTls, Stage } from "../manifests/types";
import { startedBundle, subjectsBeyond, unionOfKnown } from "./bundle";
import { evaluateGate } from "./gate";
import type { Observation } from "./observe";
import { Steps } from "./plan";
import type { LivePod, Ports, SecretMaterial } from "./ports";
import type { Rendering } from "./render";
import { certificatesOf, chainsTo } from "./x509";

/**
 * Members that do not trust what their own Secrets hold: the CA behind the issuer was renewed with another key, and then
 * the leaves were, with no update in between. They live on the connections that they have; no gate opens any more, and
 * whoever restarts stays out. The way out is a restart onto a bundle that holds both CAs, of those members alone.
 */
export interface Repair {
  /** Who restarts, in the order of ordinals. */
  members: string[];
  /** Whether members refuse each other, so that a majority of them has to be restarted before writes go on. */
  pauses: boolean;
  /** What every member is to trust, PEM: all that the bundle held, what is wanted, and the CAs of the leaves. */
  bundle: string;
}

/** What a repair has to be told of: `blocked` if leaves have to be issued anew before anybody restarts. */
export type Finding = { repair: Repair; blocked?: undefined } | { blocked: string; repair?: Repair } | undefined;

/** Leaves that members show, and so what the others have to trust. */
const SHOWN: Alias[] = ["peer", "server"];

/**
 * Looks whether the members trust what their Secrets hold now. Everything but the last question, whether the cluster
 * answers, is read from Kubernetes: it is asked while no member lets anybody in. `wanted`: the CAs of the leaves to
 * come, PEM; absent if they are not known.
 */
export async function findRepair(
  ports: Ports,
  spec: EtcdSpec,
  observation: Observation,
  wanted: string | undefined,
): Promise<Finding> {
  const pods = observation.pods.filter((pod) => speaksTls(stageOf(pod.annotations)));
  if (!observation.workload || !observation.liveTls || pods.length === 0) return undefined;
  const data = await ports.kube.configMapData(spec.namespace, trustBundleName(spec));
  const leaves = await mountedLeaves(ports, spec, observation.liveTls);
  const bundle = unionOfKnown(data?.["ca.crt"], wanted, ...casOf(leaves)) ?? "";
  const started = new Map(pods.map((pod) => [pod.name, startedBundle(data, pod.annotations)]));
  const unusable = SHOWN.flatMap((alias) => unusableBecause(leaves, alias, bundle, ports.clock.now()));
  if (unusable[0] !== undefined) {
    // What comes into the Secrets is of the CAs that are wanted.
    const members = pods.filter(({ name }) => !wanted || subjectsBeyond(wanted, started.get(name)).length > 0);
    return { blocked: unusable[0], ...(members.length > 0 && { repair: repairOf(members, true, bundle) }) };
  }
  const refusing = pods.filter(({ name }) => !trustsAll(started.get(name), [...leaves.values()]));
  const peer = leaves.get("peer");
  const pauses = refusing.some((pod) => {
    const trust = started.get(pod.name);
    return stageOf(pod.annotations)?.peer === "tls" && trust !== undefined && !trustsAll(trust, [peer]);
  });
  if (refusing.length === 0) return undefined;
  if (!pauses && (await evaluateGate(observation.view.trusting(bundle))).open) return undefined;
  return { repair: repairOf(refusing, pauses, bundle) };
}

/** Bridges let everybody in, and plain members as well: nothing is to be repaired where a plane is on one of these. */
function speaksTls(stage: Stage | undefined): boolean {
  return stage?.peer === "tls" || stage?.client === "tls";
}

function repairOf(pods: LivePod[], pauses: boolean, bundle: string): Repair {
  return { members: pods.map(({ name }) => name), pauses: pauses && pods.length > 0, bundle };
}

type Leaves = Map<Alias, SecretMaterial | undefined>;

async function mountedLeaves(ports: Ports, { namespace }: EtcdSpec, { certificates }: MemberTls): Promise<Leaves> {
  const leaves: Leaves = new Map();
  for (const { alias, secretName } of certificates) {
    leaves.set(alias, await ports.kube.secretMaterial(namespace, secretName));
  }
  return leaves;
}

/** The CAs that the Secrets of the leaves name, as far as the leaves lead to them. */
function casOf(leaves: Leaves): string[] {
  return [...leaves.values()].flatMap((leaf) => (leaf?.ca && chainsTo(leaf.certificate, leaf.ca) ? [leaf.ca] : []));
}

function unusableBecause(leaves: Leaves, alias: Alias, bundle: string, now: number): string[] {
  if (!leaves.has(alias)) return [];
  const material = leaves.get(alias);
  const [leaf] = certificatesOf(material?.certificate ?? "");
  if (!material || !leaf) return [`the ${alias} certificate's Secret is gone`];
  if (Date.parse(leaf.validTo) < now) return [`the ${alias} certificate expired on ${leaf.validTo}`];
  return chainsTo(material.certificate, bundle) ? [] : [`nobody knows the CA of the ${alias} certificate`];
}

/** A leaf that is gone is nothing to trust: it says nothing of the members. */
function trustsAll(bundle: string | undefined, leaves: (SecretMaterial | undefined)[]): boolean {
  return leaves.every((leaf) => !leaf || (bundle !== undefined && chainsTo(leaf.certificate, bundle)));
}

/** The members as they run, on the bundle that all of them are to trust. */
export function repairRendering(
  { spec, owner }: { spec: EtcdSpec; owner: string },
  { liveTls }: Observation,
  { bundle }: Repair,
): Rendering {
  return { spec, owner, trustRevision: trustRevision(bundle), ...(liveTls && { tls: liveTls }) };
}

/** The stage of the workload's template. */
export function currentStage({ workload }: Observation): Stage {
  return stageOf(workload?.templateAnnotations) ?? PLAIN;
}

/**
 * The stage that the members to be restarted are on, and stay on: their registered URLs change with it, and nobody is
 * there who could register them. In the middle of a walk the template may be ahead of them.
 */
export function repairStage({ workload, pods }: Observation, { members }: Repair): Stage {
  const pod = pods.find(({ name }) => members.includes(name));
  return stageOf(pod?.annotations) ?? stageOf(workload?.templateAnnotations) ?? PLAIN;
}

/** How the steps of a repair begin. */
const LABEL = "repair";

export function repairSteps(observation: Observation, repair: Repair): Steps {
  return new Steps(1, LABEL, repairStage(observation, repair));
}

/** Members that are down first, then from the highest ordinal down, the leader last. */
export async function repairOrder({ view, pods }: Observation, names: string[]): Promise<string[]> {
  const left = pods.filter(({ name }) => names.includes(name));
  const turns = await Promise.all(
    left.map(async (pod) => {
      if (!pod.ready || pod.terminating) return 0;
      const leads = await view.vitals(pod).then(
        (found) => found.leads,
        () => false,
      );
      return leads ? 2 : 1;
    }),
  );
  const turnOf = new Map(left.map(({ name }, index) => [name, turns[index]!]));
  return [...left]
    .sort((a, b) => turnOf.get(a.name)! - turnOf.get(b.name)! || b.ordinal - a.ordinal)
    .map(({ name }) => name);
}

export function majorityOf(replicas: number): number {
  return Math.floor(replicas / 2) + 1;
}
