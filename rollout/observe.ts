import { memberName, trustBundleName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { CLIENT_STAGE, PEER_STAGE, PLAIN, stageOf, TEMPLATE_HASH, trustRevision } from "../manifests";
import type { MemberTls } from "../manifests/types";
import type { LivePod, LiveWorkload, Member, Ports } from "./ports";
import { ClusterView, tlsOf } from "./view";

/** What a decision needs to know about the cluster, read at one moment. */
export interface Observation {
  view: ClusterView;
  workload?: LiveWorkload;
  pods: LivePod[];
  /** Member list and leader; absent when no member answered. */
  members?: Member[];
  leader?: string;
  /** Why no member answered. */
  silence?: string;
  /** TLS that the live members were rendered with; absent on a plain cluster. */
  liveTls?: MemberTls;
  /** Revision of the trust bundle as it is in the cluster now. */
  trustRevision?: string;
}

/** Reads everything; a cluster that does not answer is an observation, an API server that does not is an error. */
export async function observe(ports: Ports, spec: EtcdSpec): Promise<Observation> {
  const workload = await ports.kube.workload(spec);
  const liveTls = workload && tlsOf(workload.annotations);
  const view = new ClusterView(ports, spec, liveTls ?? spec.tls);
  const revision = await readTrustRevision(ports, spec);
  const base = { view, ...(revision && { trustRevision: revision }) };
  if (!workload) return { ...base, pods: [] };
  const pods = await ports.kube.pods(spec);
  return { ...base, workload, pods, ...(liveTls && { liveTls }), ...(await askMembers(view, pods)) };
}

export async function readTrustRevision(ports: Ports, spec: EtcdSpec): Promise<string | undefined> {
  const bundle = (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"];
  return bundle === undefined ? undefined : trustRevision(bundle);
}

async function askMembers(
  view: ClusterView,
  pods: LivePod[],
): Promise<{ members?: Member[]; leader?: string; silence?: string }> {
  try {
    const members = await view.members(pods);
    const status = await view.askAny(pods, (address) => view.ports.etcd.status(address, 3000));
    const leader = members.find((member) => member.id === status.leader)?.name;
    return { members, ...(leader && { leader }) };
  } catch (error) {
    return { silence: (error as Error).message };
  }
}

/** What will be observed once a walk has brought every member to a template, as far as plans look at it. */
export function walkedTo(observation: Observation, templateHash: string): Observation {
  const { workload } = observation;
  if (!workload) return observation;
  // The walk keeps to the template's stage, and brings those to it that are not there yet.
  const { [PEER_STAGE]: peer, [CLIENT_STAGE]: client } = workload.templateAnnotations;
  const mark = {
    [TEMPLATE_HASH]: templateHash,
    ...(peer && { [PEER_STAGE]: peer }),
    ...(client && { [CLIENT_STAGE]: client }),
  };
  return {
    ...observation,
    workload: { ...workload, templateAnnotations: { ...workload.templateAnnotations, ...mark } },
    pods: observation.pods.map((pod) => ({
      ...pod,
      revision: workload.updateRevision,
      annotations: { ...pod.annotations, ...mark },
    })),
  };
}

/** The pods with their place in the raft membership, as the planner wants them. */
export function plannedPods(spec: EtcdSpec, observation: Observation) {
  const { pods, members } = observation;
  return Array.from({ length: spec.replicas }, (_, ordinal) => {
    const name = memberName(spec, ordinal);
    const pod = pods.find((candidate) => candidate.ordinal === ordinal);
    const member = members?.find((candidate) => candidate.name === name);
    const templateStage = observation.workload && stageOf(observation.workload.templateAnnotations);
    return {
      name,
      ordinal,
      // A pod that is missing comes back on the template's stage.
      stage: (pod && stageOf(pod.annotations)) ?? templateStage ?? PLAIN,
      ready: pod?.ready === true && !pod.terminating,
      voter: member ? !member.isLearner : members === undefined,
      ...(podHash(observation, pod) && { templateHash: podHash(observation, pod) }),
      ...(member && { peerUrls: member.peerUrls }),
    };
  });
}

/**
 * The hash of the template that a pod was made from. Where somebody changed the workload behind the annotation's
 * back, the pod's controller revision differs from the workload's although the hashes agree: that is no match.
 */
function podHash({ workload }: Observation, pod: LivePod | undefined): string | undefined {
  const hash = pod?.annotations[TEMPLATE_HASH];
  const current = workload?.templateAnnotations[TEMPLATE_HASH];
  if (pod && workload && hash === current && pod.revision !== workload.updateRevision) return undefined;
  return hash;
}
