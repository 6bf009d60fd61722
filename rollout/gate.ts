import { memberName, peerUrl } from "../config/names";
import { withAdvice } from "./lost-data";
import type { LivePod, Member, MemberStatus } from "./ports";
import type { ClusterView } from "./view";

export interface Verdict {
  open: boolean;
  /** Why it is shut, one line each, naming the member. */
  reasons: string[];
  members: Member[];
  /** Name of the member that leads. */
  leader?: string;
}

/**
 * The checks that must hold before the next member may be touched: the workload is observed, every member but
 * `exempt` is ready, and all voters, each asked through its own client port, agree on leader and term, report no
 * alarm, and have applied what the leader had when it was asked first.
 *
 * Pod readiness alone is no gate: a ready member may serve nothing for seconds.
 */
export async function evaluateGate(view: ClusterView, exempt?: string): Promise<Verdict> {
  const workload = await view.ports.kube.workload(view.spec);
  if (!workload) {
    return shut([`${view.spec.hosts ? "HostSet" : view.spec.workload.kind} ${view.spec.name} does not exist`]);
  }
  if (workload.observedGeneration < workload.generation) {
    return shut([`${workload.kind} ${view.spec.name}: its controller has not seen the newest template yet`]);
  }
  const pods = await view.pods();
  const podReasons = checkPods(view, pods, exempt);
  if (podReasons.length > 0) return shut(podReasons);
  try {
    return await checkVoters(view, pods, exempt);
  } catch (error) {
    return shut([`the cluster did not answer: ${(error as Error).message}`]);
  }
}

/** What an alarm means and how it is ended; etcd itself never ends one. */
const ALARMS: Record<string, string> = {
  NOSPACE:
    " (no write is accepted: make room with etcdctl compact and defrag or a larger quota-backend-bytes, then etcdctl alarm disarm)",
  CORRUPT: " (the data of a member differs: replace that member, then etcdctl alarm disarm)",
};

function raised(alarm: string): string {
  return `alarm ${alarm} is raised${ALARMS[alarm] ?? ""}`;
}

function shut(reasons: string[]): Verdict {
  return { open: false, reasons, members: [] };
}

function checkPods(view: ClusterView, pods: LivePod[], exempt: string | undefined): string[] {
  const reasons: string[] = [];
  for (let ordinal = 0; ordinal < view.spec.replicas; ordinal++) {
    const name = memberName(view.spec, ordinal);
    if (name === exempt) continue;
    const pod = pods.find((candidate) => candidate.ordinal === ordinal);
    if (!pod) reasons.push(`${name}: has no pod`);
    else if (pod.terminating) reasons.push(`${name}: is terminating`);
    else if (!pod.ready) reasons.push(`${name}: is not ready${pod.trouble ? ` (${withAdvice(pod.trouble)})` : ""}`);
  }
  return reasons;
}

async function checkVoters(view: ClusterView, pods: LivePod[], exempt: string | undefined): Promise<Verdict> {
  const reachable = pods.filter((pod) => pod.name !== exempt);
  // An exempt member may be the whole cluster (one member, down): then there is nobody to ask.
  if (reachable.length === 0) return { open: true, reasons: [], members: [] };
  const members = await view.members(reachable);
  const voters = members.filter((member) => !member.isLearner);
  const named = voters.map((voter) => ({ voter, pod: podOf(view, voter, pods) }));
  const reasons = named.filter(({ pod }) => !pod).map(({ voter }) => `voter ${voter.name || voter.id}: has no pod`);
  const asked = named.flatMap(({ pod }) => (pod && pod.name !== exempt ? [pod] : []));
  const first = await askStatuses(view, asked, reasons);
  const leader = agree(first, reasons);
  if (reasons.length > 0 || !leader) return { open: false, reasons, members };
  const commit = first.find(({ status }) => status.id === leader)?.status.raftIndex ?? 0n;
  await checkCaughtUp(view, first, commit, reasons);
  for (const alarm of await view.alarms(reachable)) reasons.push(raised(alarm));
  const leaderName = named.find(({ voter }) => voter.id === leader)?.pod?.name;
  return { open: reasons.length === 0, reasons, members, ...(leaderName && { leader: leaderName }) };
}

/** A member that has not started yet has no name in the member list; its URL tells whose it is. */
function podOf(view: ClusterView, member: Member, pods: LivePod[]): LivePod | undefined {
  return pods.find(
    (pod) =>
      pod.name === member.name ||
      (["http", "https"] as const).some((scheme) => member.peerUrls.includes(peerUrl(view.spec, pod.ordinal, scheme))),
  );
}

interface Answer {
  pod: LivePod;
  status: MemberStatus;
}

async function askStatuses(view: ClusterView, pods: LivePod[], reasons: string[]): Promise<Answer[]> {
  const answers = await Promise.all(
    pods.map(async (pod) => {
      try {
        return { pod, status: await view.status(pod) };
      } catch (error) {
        reasons.push(`${pod.name}: does not answer on its client port (${(error as Error).message})`);
        return undefined;
      }
    }),
  );
  return answers.filter((answer) => answer !== undefined);
}

/** All voters must name one leader, in one term, and report no error. Returns the leader's member ID. */
function agree(answers: Answer[], reasons: string[]): string | undefined {
  const [head] = answers;
  if (!head) return undefined;
  for (const { pod, status } of answers) {
    if (/^0*$/.test(status.leader)) reasons.push(`${pod.name}: sees no leader`);
    else if (status.leader !== head.status.leader || status.term !== head.status.term) {
      reasons.push(`${pod.name} and ${head.pod.name} disagree on leader or term`);
    }
    for (const error of status.errors) {
      // Every member reports every alarm, with the number of the one that raised it.
      const [, alarm] = /\balarm:(\w+)/.exec(error) ?? [];
      if (!alarm) reasons.push(`${pod.name}: reports ${error}`);
      else if (!reasons.includes(raised(alarm))) reasons.push(raised(alarm));
    }
  }
  return head.status.leader;
}

async function checkCaughtUp(view: ClusterView, answers: Answer[], commit: bigint, reasons: string[]): Promise<void> {
  const behind = answers.filter(({ status }) => status.appliedIndex < commit);
  await Promise.all(
    behind.map(async ({ pod }) => {
      const { appliedIndex } = await view.status(pod);
      if (appliedIndex < commit)
        reasons.push(`${pod.name}: has applied ${appliedIndex} of the leader's ${commit} entries`);
    }),
  );
}
