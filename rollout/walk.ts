import { memberName, peerUrl } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { PLAIN, stageOf, TEMPLATE_HASH } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { evaluateGate, type Verdict } from "./gate";
import type { Journal } from "./journal";
import { isStranger, REPLACE, withAdvice } from "./lost-data";
import { nextToRestart, type Pass, peerScheme, type Step, Steps, toRegisterFirst, transferee } from "./plan";
import type { ConditionType, LivePod, LiveWorkload, Member } from "./ports";
import { templateHash } from "./render";
import { refuseForeignTemplate, seenTemplate } from "./template";
import { overtaken } from "./versions";
import { CALL_DEADLINE_MS, type ClusterView } from "./view";
import { DeadlineError, FatalError, waitFor } from "./wait";

/** MoveLeader is quick or not at all; a proposal in flight waits this long at most. */
const MOVE_LEADER_DEADLINE_MS = 4000;

/** What the gate said is no longer sure after this: registering and a blocked eviction may take their time. */
const GATE_HOLDS_MS = 2000;

/** Carries out one pass: every member that is not there yet, one after the other, gated. */
export class PassWalker {
  private readonly steps: Steps;

  constructor(
    private readonly view: ClusterView,
    private readonly pass: Pass,
    private readonly manifest: KubeObject,
    private readonly journal: Journal,
  ) {
    this.steps = new Steps(pass.number, pass.label, pass.to);
  }

  async run(): Promise<void> {
    await this.registerCutOff();
    // Nothing may change, the template included, while a member that is not to be mended is down.
    const verdict = await this.openGate(() => this.memberToMend());
    await this.registerFirst(verdict);
    const workload = await this.setTemplate();
    await this.fixRegistrations(workload);
    for (;;) {
      const pods = await this.pods();
      const pending = this.slots(pods).filter((slot) => slot.pod?.revision !== workload.updateRevision);
      // Once more: a pod that somebody else replaced meanwhile is on the template, but not registered for it.
      if (pending.length === 0) return this.fixRegistrations(workload);
      const toMend = pending.find((slot) => !slot.ready)?.name;
      const verdict = await this.openGate(async () => toMend);
      // The gate was asked about the others: while it waited, they may have come back and this one not.
      const next = toMend ?? nextToRestart(pending, verdict.leader)?.name;
      if (next) await this.restartMember(next, workload, verdict);
    }
  }

  private slots(pods: LivePod[]) {
    return Array.from({ length: this.view.spec.replicas }, (_, ordinal) => {
      const pod = pods.find((candidate) => candidate.ordinal === ordinal);
      return {
        name: memberName(this.view.spec, ordinal),
        ordinal,
        pod,
        ready: pod?.ready === true && !pod.terminating,
      };
    });
  }

  /** How many members are not on the template yet. */
  private left(pods: LivePod[], workload: LiveWorkload): number {
    return this.slots(pods).filter((slot) => slot.pod?.revision !== workload.updateRevision).length;
  }

  /** The one member that is down, if it is exactly one: restarting it is how it may be mended. */
  private async memberToMend(): Promise<string | undefined> {
    const down = this.slots(await this.view.pods()).filter((slot) => !slot.ready);
    return down.length === 1 ? down[0]?.name : undefined;
  }

  /** Whom the gate does not ask about is decided anew at every look: members come and go while it is awaited. */
  private openGate(exempt: () => Promise<string | undefined>): Promise<Verdict> {
    return this.wait("the cluster to be healthy", async () => {
      const verdict = await evaluateGate(this.view, await exempt());
      return verdict.open ? { done: verdict } : verdict.reasons.join("; ");
    });
  }

  /** An API server that is away for a moment does not end a walk. */
  private pods(): Promise<LivePod[]> {
    return this.wait("the pods to be listed", async () => ({ done: await this.view.pods() }));
  }

  private workload(): Promise<LiveWorkload | undefined> {
    return this.wait("the workload to be read", async () => ({
      done: await this.view.ports.kube.workload(this.view.spec),
    }));
  }

  /** Nor does a moment without a leader, in which nobody can tell who the members are. */
  private members(): Promise<Member[]> {
    return this.wait("the members to be listed", async () => ({
      done: await this.view.members(await this.view.pods()),
    }));
  }

  /**
   * A member whose pod was made again before its turn listens where the others do not look for it. It may be what keeps
   * the gate shut, and registering it needs no more than a quorum; without one the gate says what is wrong.
   */
  private async registerCutOff(): Promise<void> {
    const pods = await this.pods();
    const members = await this.view.members(pods).catch(() => []);
    for (const pod of pods) {
      const member = members.find((candidate) => candidate.name === pod.name);
      if (!member || !isCutOff(this.view.spec, pod, member)) continue;
      if (pod.annotations[TEMPLATE_HASH] === templateHash(this.manifest)) await this.registerFinal(member, pod);
      else await this.registerBoth(member, pod);
    }
  }

  /** Before the template changes the peers' scheme: a quorum must survive if every pod is made again from it. */
  private async registerFirst({ members, leader }: Verdict): Promise<void> {
    const slots = this.slots(await this.pods()).flatMap((slot) => {
      const member = members.find((candidate) => candidate.name === slot.name);
      return member ? [{ ...slot, member, voter: !member.isLearner }] : [];
    });
    const hash = templateHash(this.manifest);
    const pending = slots.filter(({ pod }) => pod?.annotations[TEMPLATE_HASH] !== hash);
    const known = ({ member, ordinal }: (typeof slots)[number]) => this.known(member, ordinal);
    for (const { member, name, ordinal } of toRegisterFirst(slots, pending, leader, known)) {
      await this.registerBoth(member, { name, ordinal });
    }
  }

  /** Applies the member template; under OnDelete no pod restarts because of it. */
  private async setTemplate(): Promise<LiveWorkload> {
    await this.wait("the members to bear the template's version", async () => {
      return (await overtaken(this.view)) ?? { done: undefined };
    });
    const before = await this.workload();
    await this.view.ports.kube.apply(this.manifest);
    const workload = await this.wait(...seenTemplate(this.view));
    if (this.pass.steps.some((step) => step.kind === "template") || before?.generation !== workload.generation) {
      this.record(this.steps.template(), `revision ${workload.updateRevision}`, "UpdateEtcdPetSet");
    }
    return workload;
  }

  /** Members that already run this pass's template but are registered under another URL (an interrupted walk). */
  private async fixRegistrations(workload: LiveWorkload): Promise<void> {
    const pods = await this.pods();
    if (!pods.some((pod) => pod.revision === workload.updateRevision && pod.ready)) return;
    const members = await this.members();
    for (const pod of pods) {
      if (pod.revision !== workload.updateRevision) continue;
      const member = members.find((candidate) => candidate.name === pod.name);
      if (member && !this.registered(member, pod.ordinal)) await this.registerFinal(member, pod);
    }
  }

  private async restartMember(name: string, workload: LiveWorkload, verdict: Verdict): Promise<void> {
    const gatedAt = this.view.ports.clock.monotonic();
    const wasLeader = verdict.leader === name && this.view.spec.replicas > 1;
    if (wasLeader) await this.moveLeaderAwayFrom(name, verdict.members);
    const pods = await this.pods();
    const pod = pods.find((candidate) => candidate.name === name);
    // Somebody else replaced it while the gate was awaited or leadership moved.
    if (pod?.revision === workload.updateRevision) return;
    const member = await this.memberOf(name, pods);
    const register = pod && member && !this.registered(member, pod.ordinal);
    if (register && !this.known(member, pod.ordinal)) await this.registerBoth(member, pod);
    const turn = `${this.slots(pods).length - this.left(pods, workload) + 1} of ${this.view.spec.replicas}`;
    this.journal.progress(`${this.pass.label}: restarting ${name} (${turn})`);
    const started = this.view.ports.clock.monotonic();
    refuseForeignTemplate(await this.workload(), workload.updateRevision);
    if (pod && !pod.terminating) await this.evict(pod, gatedAt);
    const fresh = await this.waitForPod(name, pod?.uid, workload.updateRevision);
    await this.openGate(async () => undefined);
    const durationMs = Math.round(this.view.ports.clock.monotonic() - started);
    this.journal.restarted({ member: name, pass: this.pass.label, durationMs, wasLeader });
    this.record(this.steps.restart(name), `serving again after ${(durationMs / 1000).toFixed(1)} s`, "RestartEtcdPods");
    if (register) await this.registerFinal(member, fresh);
  }

  /** No answer is no reason to stop when the member to be mended is the one that is asked about. */
  private async memberOf(name: string, pods: LivePod[]): Promise<Member | undefined> {
    if (!pods.some((pod) => pod.ready)) return undefined;
    return (await this.members()).find((member) => member.name === name);
  }

  private async moveLeaderAwayFrom(name: string, members: Member[]): Promise<void> {
    const pods = await this.pods();
    const candidates = this.slots(pods).map((slot) => ({
      ...slot,
      voter: members.some((member) => member.name === slot.name && !member.isLearner),
    }));
    const heir = transferee(candidates, name);
    const heirId = members.find((member) => member.name === heir?.name)?.id;
    const leaderPod = pods.find((pod) => pod.name === name);
    if (!heir || !heirId || !leaderPod) throw new FatalError(`${name} leads, and no other ready voter can take over`);
    await this.wait(`leadership to move from ${name} to ${heir.name}`, async () => {
      const verdict = await evaluateGate(this.view);
      if (verdict.open && verdict.leader !== name) return { done: undefined };
      if (!verdict.open) return verdict.reasons.join("; ");
      await this.view.ports.etcd.moveLeader(await this.view.address(leaderPod), heirId, MOVE_LEADER_DEADLINE_MS);
      return `${name} still leads`;
    });
    this.record(this.steps.moveLeader(name, heir.name), "", "RestartEtcdPods");
  }

  private record(step: Step, detail: string, condition: ConditionType): void {
    this.journal.note(step.text, detail, condition);
  }

  private registered(member: Member, ordinal: number): boolean {
    const wanted = peerUrl(this.view.spec, ordinal, peerScheme(this.pass.to));
    return member.peerUrls.length === 1 && member.peerUrls[0] === wanted;
  }

  /** Whether the others will find the member once it is on this pass's stage. */
  private known(member: Member, ordinal: number): boolean {
    return member.peerUrls.includes(peerUrl(this.view.spec, ordinal, peerScheme(this.pass.to)));
  }

  private async registerBoth(member: Member, pod: Pick<LivePod, "name" | "ordinal">): Promise<void> {
    const urls = (["http", "https"] as const).map((scheme) => peerUrl(this.view.spec, pod.ordinal, scheme));
    await this.updateUrls(member, urls);
    this.record(this.steps.registerBoth(pod.name), "", "RestartEtcdPods");
  }

  private async registerFinal(member: Member, pod: LivePod): Promise<void> {
    await this.updateUrls(member, [peerUrl(this.view.spec, pod.ordinal, peerScheme(this.pass.to))]);
    this.record(this.steps.registerFinal(pod.name), "", "RestartEtcdPods");
  }

  /** The update is idempotent: repeated until it went through, since it goes through raft and may be dropped. */
  private async updateUrls(member: Member, urls: string[]): Promise<void> {
    await this.wait(`the peer URLs of ${member.name} to be registered`, async () => {
      await this.view.askAny(await this.view.pods(), (address) =>
        this.view.ports.etcd.updatePeerUrls(address, member.id, urls, CALL_DEADLINE_MS),
      );
      return { done: undefined };
    });
  }

  private async evict(pod: LivePod, gatedAt: number): Promise<void> {
    let asked = gatedAt;
    await this.wait(`the eviction of ${pod.name}`, async () => {
      const newer = await overtaken(this.view);
      if (newer) return newer;
      if (this.view.ports.clock.monotonic() - asked > GATE_HOLDS_MS) {
        const verdict = await evaluateGate(this.view, pod.ready ? undefined : pod.name);
        if (!verdict.open) return verdict.reasons.join("; ");
        asked = this.view.ports.clock.monotonic();
      }
      const answer = await this.view.ports.kube.evict(this.view.spec.namespace, pod.name, pod.uid);
      return answer === "blocked" ? "a PodDisruptionBudget allows no disruption now" : { done: undefined };
    });
  }

  private async waitForPod(name: string, oldUid: string | undefined, revision: string): Promise<LivePod> {
    const ready = this.wait(`${name} to be ready`, async () => {
      const pod = (await this.view.pods()).find((candidate) => candidate.name === name);
      if (!pod) return "its pod has not been created again";
      if (pod.uid === oldUid) return "its old pod is still there";
      if (pod.revision !== revision)
        throw new FatalError(
          `${name} came back on revision ${pod.revision} instead of ${revision}: somebody else changed the workload meanwhile; run the update again`,
        );
      if (!pod.ready) return withAdvice(pod.trouble ?? "its pod is not ready");
      return { done: pod };
    });
    return ready.catch(async (error: Error) => {
      if (!(error instanceof DeadlineError) || !(await isStranger(this.view, name))) throw error;
      throw new DeadlineError(`${error.message}; it has begun a cluster of its own: ${REPLACE}`);
    });
  }

  private wait<T>(what: string, look: () => Promise<{ done: T } | string>): Promise<T> {
    const deadlineMs = this.view.spec.rollout.stepTimeoutSeconds * 1000;
    return waitFor({ clock: this.view.ports.clock, deadlineMs, what }, look);
  }
}

/** Whether a member's pod listens on a scheme that the member is not registered under. */
export function isCutOff(spec: EtcdSpec, pod: LivePod, { peerUrls }: Member): boolean {
  const stage = stageOf(pod.annotations) ?? PLAIN;
  return !pod.terminating && !peerUrls.includes(peerUrl(spec, pod.ordinal, peerScheme(stage)));
}
