import type { Stage } from "../manifests/types";
import type { Scheme } from "./ports";
import { stageName, stagesToWalk } from "./stages";

/** A member's pod as the planner sees it. */
export interface PlannedPod {
  name: string;
  ordinal: number;
  stage: Stage;
  templateHash?: string;
  ready: boolean;
  /** Whether it may become leader. Unknown (no answer from the cluster) counts as yes. */
  voter: boolean;
  /** Peer URLs registered in the raft membership; absent when the cluster did not answer. */
  peerUrls?: string[];
}

export interface PlanInput {
  replicas: number;
  target: Stage;
  pods: PlannedPod[];
  /** Stage of the workload's template: where a pod that is recreated now would come back. */
  templateStage: Stage;
  templateHash?: string;
  /** Hash of the member template on a stage; `undefined` while something it contains is not known yet. */
  hashOf: (stage: Stage) => string | undefined;
  /** Name of the member that leads now, where the cluster answered. */
  leader?: string;
  peerUrl: (ordinal: number, scheme: Scheme) => string;
  /** What the pass is for, where one pass is all there is, such as `widen`. Default: `pass n/m`. */
  label?: string;
}

export type StepKind = "template" | "restart" | "move-leader" | "register-both" | "register-final";

export interface Step {
  kind: StepKind;
  pass: number;
  member?: string;
  text: string;
}

export interface Pass {
  number: number;
  /** How its steps begin: `pass 1/2`, or what the only pass is for. */
  label: string;
  to: Stage;
  /** Whether another pass follows: the template is then one that Pulumi never sees. */
  intermediate: boolean;
  steps: Step[];
}

export interface Plan {
  passes: Pass[];
  steps: Step[];
  notes: string[];
  /** Who is expected to lead afterwards; absent where nobody knows. */
  leader?: string;
}

export const NO_PLAN: Plan = { passes: [], steps: [], notes: [] };

/**
 * The walk from what runs to the target: which passes, and in each which member when.
 *
 * The walk asks the same functions (`nextToRestart`, `transferee`, `Steps`) again before every member, so that what
 * it does differs from the plan only where the cluster has changed in between (another leader).
 */
export function planRollout(input: PlanInput): Plan {
  const passes: Pass[] = [];
  const running = [...input.pods.map((pod) => pod.stage), input.templateStage];
  const stages = stagesToWalk(running, input.target, input.replicas);
  const world = { pods: input.pods.map((pod) => ({ ...pod })), leader: input.leader, templateHash: input.templateHash };
  const pending = stages.filter((stage, index) => {
    const last = index === stages.length - 1;
    return !last || stages.length > 1 || needsPass(input, stage);
  });
  pending.forEach((to, index) => {
    const label = passLabel(input, index + 1, pending.length);
    const steps = new Steps(index + 1, label, to);
    passes.push({
      number: index + 1,
      label,
      to,
      intermediate: index < pending.length - 1,
      steps: planPass(input, world, to, steps),
    });
  });
  const steps = passes.flatMap((pass) => pass.steps);
  return { passes, steps, notes: notesFor(input, steps), ...(world.leader && { leader: world.leader }) };
}

function passLabel(input: PlanInput, number: number, of: number): string {
  return input.label && of === 1 ? input.label : `pass ${number}/${of}`;
}

interface World {
  pods: PlannedPod[];
  leader: string | undefined;
  templateHash: string | undefined;
}

function needsPass(input: PlanInput, stage: Stage): boolean {
  const hash = input.hashOf(stage);
  if (hash === undefined || input.templateHash !== hash) return true;
  return input.pods.some((pod) => pod.templateHash !== hash || urlsToFix(input, pod, stage));
}

function planPass(input: PlanInput, world: World, to: Stage, steps: Steps): Step[] {
  const hash = input.hashOf(to);
  const out: Step[] = [];
  for (const pod of world.pods.filter((each) => cutOff(input, each))) {
    const there = hash !== undefined && pod.templateHash === hash;
    out.push(there ? steps.registerFinal(pod.name) : steps.registerBoth(pod.name));
    pod.peerUrls = there ? [input.peerUrl(pod.ordinal, peerScheme(to))] : bothUrls(input, pod);
  }
  const known = (pod: PlannedPod) => knownUnder(input, pod, to);
  const notThere = world.pods.filter((pod) => hash === undefined || pod.templateHash !== hash);
  for (const pod of toRegisterFirst(world.pods, notThere, world.leader, known)) {
    out.push(steps.registerBoth(pod.name));
    pod.peerUrls = bothUrls(input, pod);
  }
  if (hash === undefined || world.templateHash !== hash) out.push(steps.template());
  world.templateHash = hash;
  for (const pod of world.pods) {
    if (hash === undefined || pod.templateHash !== hash || !urlsToFix(input, pod, to)) continue;
    out.push(steps.registerFinal(pod.name));
    pod.peerUrls = [input.peerUrl(pod.ordinal, peerScheme(to))];
  }
  let pending = world.pods.filter((pod) => hash === undefined || pod.templateHash !== hash);
  for (let pod = nextToRestart(pending, world.leader); pod; pod = nextToRestart(pending, world.leader)) {
    out.push(...planMember(input, world, pod, to, steps));
    const name = pod.name;
    pending = pending.filter((other) => other.name !== name);
    Object.assign(pod, { stage: to, templateHash: hash ?? pod.templateHash, ready: true });
  }
  return out;
}

function planMember(input: PlanInput, world: World, pod: PlannedPod, to: Stage, steps: Steps): Step[] {
  const out: Step[] = [];
  const heir = pod.name === world.leader ? transferee(world.pods, pod.name) : undefined;
  if (heir) {
    out.push(steps.moveLeader(pod.name, heir.name));
    world.leader = heir.name;
  }
  const register = urlsToFix(input, pod, to);
  if (register && !knownUnder(input, pod, to)) out.push(steps.registerBoth(pod.name));
  out.push(steps.restart(pod.name));
  if (register) out.push(steps.registerFinal(pod.name));
  if (pod.peerUrls) pod.peerUrls = [input.peerUrl(pod.ordinal, peerScheme(to))];
  return out;
}

/** Peer listeners speak one scheme: https on `tls`, http before it. */
export function peerScheme(stage: Stage): Scheme {
  return stage.peer === "tls" ? "https" : "http";
}

function urlsToFix(input: PlanInput, pod: PlannedPod, to: Stage): boolean {
  const wanted = input.peerUrl(pod.ordinal, peerScheme(to));
  if (pod.peerUrls) return pod.peerUrls.length !== 1 || pod.peerUrls[0] !== wanted;
  // The cluster did not answer: what the pod's own stage says is the best guess.
  return peerScheme(pod.stage) !== peerScheme(to);
}

/** Whether the others would find the member if it came back on this stage. */
function knownUnder(input: PlanInput, pod: PlannedPod, to: Stage): boolean {
  return pod.peerUrls?.includes(input.peerUrl(pod.ordinal, peerScheme(to))) ?? !urlsToFix(input, pod, to);
}

/** Whether the member listens where the others do not look for it: its pod was made again before its turn. */
function cutOff(input: Pick<PlanInput, "peerUrl">, { peerUrls, ordinal, stage }: PlannedPod): boolean {
  return peerUrls?.includes(input.peerUrl(ordinal, peerScheme(stage))) === false;
}

function bothUrls(input: PlanInput, { ordinal }: PlannedPod): string[] {
  return [input.peerUrl(ordinal, "http"), input.peerUrl(ordinal, "https")];
}

/**
 * Who is registered under both schemes before the template changes the peers' scheme: as many voters as make a
 * majority together with any other one. Then the members find a leader even if every pod is made again from that
 * template before its turn: those that are known under its scheme are reached by all, and all of those reach them.
 *
 * Members that are down are not relied upon.
 */
export function toRegisterFirst<P extends { name: string; ordinal: number; ready: boolean; voter: boolean }>(
  all: P[],
  pending: P[],
  leader: string | undefined,
  known: (pod: P) => boolean,
): P[] {
  const voters = all.filter((pod) => pod.voter);
  const lacking = Math.floor(voters.length / 2) - voters.filter((pod) => pod.ready && known(pod)).length;
  const candidates = pending.filter((pod) => pod.voter && pod.ready && !known(pod));
  return inTurn(candidates, leader).slice(0, Math.max(lacking, 0));
}

/** Unhealthy members first, then followers from the highest ordinal down, the leader last. */
export function nextToRestart<P extends { name: string; ordinal: number; ready: boolean }>(
  pending: P[],
  leader: string | undefined,
): P | undefined {
  return inTurn(pending, leader)[0];
}

function inTurn<P extends { name: string; ordinal: number; ready: boolean }>(
  pods: P[],
  leader: string | undefined,
): P[] {
  const turn = (pod: P) => (!pod.ready ? 0 : pod.name !== leader ? 1 : 2);
  return [...pods].sort((a, b) => turn(a) - turn(b) || b.ordinal - a.ordinal);
}

/** Who takes over from the leader: of the other ready voters, the one with the lowest ordinal. */
export function transferee<P extends { name: string; ordinal: number; ready: boolean; voter: boolean }>(
  pods: P[],
  leader: string,
): P | undefined {
  return pods.filter((pod) => pod.name !== leader && pod.voter && pod.ready).sort((a, b) => a.ordinal - b.ordinal)[0];
}

/** The wording of steps: preview prints them, the walk records them, tests compare the two. */
export class Steps {
  constructor(
    private readonly pass: number,
    private readonly label: string,
    private readonly to: Stage,
  ) {}

  template(): Step {
    return this.step("template", undefined, `set the member template to ${stageName(this.to)}`);
  }
  restart(member: string): Step {
    return this.step("restart", member, `restart ${member}`);
  }
  moveLeader(from: string, to: string): Step {
    return this.step("move-leader", from, `move leadership from ${from} to ${to}`);
  }
  registerBoth(member: string): Step {
    return this.step("register-both", member, `register the peer URLs of ${member}: http and https`);
  }
  registerFinal(member: string): Step {
    return this.step("register-final", member, `register the peer URL of ${member}: ${peerScheme(this.to)}`);
  }
  private step(kind: StepKind, member: string | undefined, text: string): Step {
    return { kind, pass: this.pass, ...(member && { member }), text: `${this.label}: ${text}` };
  }
}

function notesFor(input: PlanInput, steps: Step[]): string[] {
  if (!steps.some((step) => step.kind === "restart")) return [];
  if (input.replicas === 1) {
    return ["one member: reads and writes pause briefly while it restarts"];
  }
  const notes = input.leader
    ? [`${input.leader} leads now and goes last; the leader is read again before every member, so the order may change`]
    : ["which member leads is not known now: whichever does goes last"];
  if (input.replicas === 2) notes.push("two members: reads and writes pause briefly at each restart");
  return notes;
}
