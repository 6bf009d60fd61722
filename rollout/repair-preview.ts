import type { ConfigProblem, EtcdSpec } from "../config/types";
import { CLIENT_STAGE, PEER_STAGE, TEMPLATE_HASH, TRUST_REVISION } from "../manifests";
import type { Stage } from "../manifests/types";
import { addSteps, readBundle } from "./bundle";
import type { Observation } from "./observe";
import { Refusal } from "./problems";
import { hashOf, type Rendering } from "./render";
import { findRepair, majorityOf, type Repair, repairOrder, repairRendering, repairStage, repairSteps } from "./repair";
import { repairProblems } from "./repair-evidence";

export interface PreviewedRepair {
  steps: string[];
  notes: string[];
  /** CAs that the bundle holds because of it, PEM; and the lines that tell of those that are new in it. */
  cas?: string;
  adds: string[];
  /** Why leaves have to be issued anew before any member restarts. */
  blocked?: string;
  /** What the rest of the update finds afterwards. */
  after: Observation;
}

type Request = { spec: EtcdSpec; owner: string };

/**
 * What is repaired `before` leaves are issued, by the trust bundle's resource, or `after` that, by the walk's: what had to
 * wait for them, and everything on the way out of TLS. Throws `Refusal`; changes nothing.
 */
export async function previewRepair(
  request: Request,
  observation: Observation,
  wanted: string | undefined,
  when: "before" | "after",
): Promise<PreviewedRepair> {
  const { ports } = observation.view;
  const { blocked, repair } = (await findRepair(ports, request.spec, observation, wanted)) ?? {};
  if (blocked !== undefined && !request.spec.tls) throw new Refusal([noWayOut(request.spec, blocked)]);
  const found = { ...(blocked !== undefined && { blocked }), ...(repair && { cas: repair.bundle }) };
  if (!repair || (blocked !== undefined && when === "before")) {
    return { steps: [], adds: [], notes: [], after: observation, ...found };
  }
  const problems = await repairProblems(observation);
  if (problems.length > 0) throw new Refusal(problems);
  const live = await readBundle(ports, request.spec);
  return { ...(await planRepair(request, observation, repair)), adds: addSteps(repair.bundle, live), ...found };
}

/** On the way out of TLS nobody issues leaves any more, and members that restart on a bridge still need them. */
function noWayOut({ name }: EtcdSpec, reason: string): ConfigProblem {
  return {
    path: "etcd:tls",
    value: "absent",
    rule: `TLS cannot be removed from ${name} now: ${reason}, and members need it while they are restarted`,
    mend: "Update with etcd:tls as it was, which has the certificates issued anew, and then take etcd:tls away",
  };
}

/** What the repair does, in the words that it is recorded with. */
async function planRepair(
  request: Request,
  observation: Observation,
  repair: Repair,
): Promise<Omit<PreviewedRepair, "adds">> {
  const steps = repairSteps(observation, repair);
  const rendering = repairRendering(request, observation, repair);
  const stage = repairStage(observation, repair);
  const hash = hashOf(rendering, stage);
  const changes = observation.workload?.templateAnnotations[TEMPLATE_HASH] !== hash;
  const order = await repairOrder(observation, repair.members);
  return {
    steps: [...(changes ? [steps.template()] : []), ...order.map((name) => steps.restart(name))].map(
      ({ text }) => text,
    ),
    notes: repairNotes(observation, repair),
    after: hash ? repaired(observation, repair, { ...stageMarks(stage), ...marks(hash, rendering) }) : observation,
  };
}

function repairNotes({ view }: Observation, { members, pauses }: Repair): string[] {
  const { replicas } = view.spec;
  const why =
    "members do not trust what their own Secrets hold: the CA behind the certificates was renewed with another key, and the certificates were, with no update in between";
  const cost = pauses
    ? `repair: writes pause for about one restart, from the moment at which ${replicas - majorityOf(replicas) + 1} of ${replicas} members have been restarted until ${majorityOf(replicas)} trust each other; no acknowledged write is lost, since every member keeps its volume`
    : "repair: members trust each other, so writes go on; each member is restarted in its turn";
  const evidence = `repair: before each restart of ${members.join(", ")} it is read that the member's PersistentVolumeClaim is the one that it has served from, and after it that the member has come back with its ID`;
  return [why, replicas === 1 ? "one member: reads and writes pause briefly while it restarts" : cost, evidence];
}

function marks(hash: string, { trustRevision: revision = "" }: Rendering) {
  return { [TEMPLATE_HASH]: hash, [TRUST_REVISION]: revision };
}

function stageMarks({ peer, client }: Stage) {
  return { [PEER_STAGE]: peer, [CLIENT_STAGE]: client };
}

function repaired(observation: Observation, { members }: Repair, mark: Record<string, string>): Observation {
  // Nobody knows who will lead once members have found each other again.
  const { leader: _, workload, ...rest } = observation;
  if (!workload) return observation;
  return {
    ...rest,
    workload: { ...workload, templateAnnotations: { ...workload.templateAnnotations, ...mark } },
    pods: observation.pods.map((pod) =>
      members.includes(pod.name)
        ? { ...pod, ready: true, revision: workload.updateRevision, annotations: { ...pod.annotations, ...mark } }
        : pod,
    ),
  };
}
