import { trustBundleName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { TEMPLATE_HASH } from "../manifests";
import { addSteps, readBundle, startedBundle, subjectsBeyond, writeBundle } from "./bundle";
import { evaluateGate } from "./gate";
import type { Journal } from "./journal";
import { withAdvice } from "./lost-data";
import { type Observation, observe } from "./observe";
import type { LivePod, LiveWorkload } from "./ports";
import { Refusal } from "./problems";
import { hashOf, renderStage } from "./render";
import { findRepair, type Repair, repairOrder, repairRendering, repairStage, repairSteps } from "./repair";
import { claimSign, repairProblems } from "./repair-evidence";
import { refuseForeignTemplate, seenTemplate } from "./template";
import { FatalError, waitFor } from "./wait";

/** Carries a repair out; see `Repair`. Resumable: who still has to be restarted is read from the cluster. */
export async function carryOutRepair(
  request: { spec: EtcdSpec; owner: string },
  observation: Observation,
  repair: Repair,
  journal: Journal,
): Promise<Observation> {
  const { ports, spec } = observation.view;
  const problems = await repairProblems(observation);
  if (problems.length > 0) throw new Refusal(problems);
  const live = await readBundle(ports, spec);
  await writeBundle(ports, spec, repair.bundle);
  for (const step of addSteps(repair.bundle, live)) journal.note(step, "", "CertificateSynced");
  observation.view.forgetCredentials();
  await new RepairWalker(request, observation, repair, journal).run();
  observation.view.forgetCredentials();
  return observe(ports, spec);
}

class RepairWalker {
  private readonly view: Observation["view"];
  private readonly steps;

  constructor(
    private readonly request: { spec: EtcdSpec; owner: string },
    private readonly observation: Observation,
    private readonly repair: Repair,
    private readonly journal: Journal,
  ) {
    this.view = observation.view;
    this.steps = repairSteps(observation, repair);
  }

  async run(): Promise<void> {
    const workload = await this.setTemplate();
    for (;;) {
      const pods = await this.allPods();
      const left = await this.refusing(pods);
      if (left.length === 0) break;
      // Members that refuse each other serve nobody until enough of them have been restarted: none is waited for.
      if (!this.repair.pauses) {
        await this.awaitReady(pods.filter(({ name }) => !left.includes(name)).map(({ name }) => name));
      }
      const [next] = await repairOrder({ ...this.observation, pods }, left);
      const pod = pods.find(({ name }) => name === next);
      if (pod) await this.restart(pod, workload, left.length);
    }
    await this.wait("the members to serve again", async () => {
      this.view.forgetCredentials();
      const verdict = await evaluateGate(this.view);
      return verdict.open ? { done: undefined } : verdict.reasons.join("; ");
    });
  }

  /** Under OnDelete no pod restarts because of it; one that somebody else restarts comes back on it, and is repaired. */
  private async setTemplate(): Promise<LiveWorkload> {
    const { kube } = this.view.ports;
    const rendering = repairRendering(this.request, this.observation, this.repair);
    const stage = repairStage(this.observation, this.repair);
    const changes = this.observation.workload?.templateAnnotations[TEMPLATE_HASH] !== hashOf(rendering, stage);
    await kube.apply(renderStage(rendering, stage, true));
    const workload = await this.wait(...seenTemplate(this.view));
    if (changes) this.journal.note(this.steps.template().text, "", "UpdateEtcdPetSet");
    return workload;
  }

  private allPods(): Promise<LivePod[]> {
    return this.wait("every member to have a pod", async () => {
      const pods = await this.view.pods();
      const there = pods.filter(({ terminating }) => !terminating);
      return there.length >= this.view.spec.replicas ? { done: there } : `${there.length} have one`;
    });
  }

  /** Members that were not started with the bundle, or with all that is in it. */
  private async refusing(pods: LivePod[]): Promise<string[]> {
    const { ports, spec } = this.view;
    const data = await ports.kube.configMapData(spec.namespace, trustBundleName(spec));
    return pods
      .filter(({ name }) => this.repair.members.includes(name))
      .filter(({ annotations }) => {
        const started = startedBundle(data, annotations);
        return started === undefined || subjectsBeyond(this.repair.bundle, started).length > 0;
      })
      .map(({ name }) => name);
  }

  private async awaitReady(names: string[]): Promise<void> {
    await this.wait(`${names.join(", ")} to be ready`, async () => {
      const down = (await this.view.pods()).filter(({ name, ready }) => names.includes(name) && !ready);
      const reason = ({ name, trouble }: LivePod) => `${name}: ${withAdvice(trouble ?? "is not ready")}`;
      return down.length === 0 ? { done: undefined } : down.map(reason).join("; ");
    });
  }

  private async restart(pod: LivePod, workload: LiveWorkload, left: number): Promise<void> {
    const { clock } = this.view.ports;
    const { members } = this.repair;
    await this.demandVolume(pod);
    const before = await this.view.vitals(pod).catch(() => undefined);
    this.journal.progress(`repair: restarting ${pod.name} (${members.length - left + 1} of ${members.length})`);
    const started = clock.monotonic();
    refuseForeignTemplate(await this.view.ports.kube.workload(this.view.spec), workload.updateRevision);
    await this.remove(pod);
    await this.awaitBack(pod, workload.updateRevision, before?.id);
    const durationMs = Math.round(clock.monotonic() - started);
    this.journal.restarted({ member: pod.name, pass: "repair", durationMs, wasLeader: before?.leads === true });
    const told = `running again after ${(durationMs / 1000).toFixed(1)} s`;
    this.journal.note(this.steps.restart(pod.name).text, told, "RestartEtcdPods");
  }

  private async demandVolume({ ordinal }: LivePod): Promise<void> {
    if (this.view.spec.hosts) return;
    const [sign] = await claimSign(this.view, ordinal);
    if (sign) throw new FatalError(`no further member is restarted: ${sign}. See docs/recovery.md`);
  }

  /**
   * A PodDisruptionBudget counts members that are not ready, which those are that nobody trusts: there is no quorum
   * left to protect by it. Where members trust each other it is waited for.
   */
  private async remove({ name, uid }: LivePod): Promise<void> {
    const { kube } = this.view.ports;
    const { namespace } = this.view.spec;
    await this.wait(`the eviction of ${name}`, async () => {
      const answer = await kube.evict(namespace, name, uid);
      if (answer !== "blocked") return { done: undefined };
      if (!this.repair.pauses) return "a PodDisruptionBudget allows no disruption now";
      await kube.deletePod(namespace, name, uid);
      return { done: undefined };
    });
  }

  /** Its process is waited for, and not that it serves: there may be nobody yet who trusts it. */
  private async awaitBack({ name, uid }: LivePod, revision: string, before: string | undefined): Promise<void> {
    const id = await this.wait(`${name} to run again`, async () => {
      const pod = (await this.view.pods()).find((candidate) => candidate.name === name);
      if (!pod) return "its pod has not been created again";
      if (pod.uid === uid) return "its old pod is still there";
      if (pod.revision !== revision) return `it came back on revision ${pod.revision} instead of ${revision}`;
      // Its startup probe fails until it is let in by others: what it tells in the clear counts.
      const found = await this.view.vitals(pod).catch(() => undefined);
      return found ? { done: found.id } : withAdvice(pod.trouble ?? "its process does not answer yet");
    });
    if (before === undefined || before === id) return;
    throw new FatalError(
      `${name} came back as the member ${id} instead of ${before}: its data is gone. No further member is restarted; see docs/recovery.md`,
    );
  }

  private wait<T>(what: string, look: () => Promise<{ done: T } | string>): Promise<T> {
    const { clock } = this.view.ports;
    return waitFor({ clock, deadlineMs: this.view.spec.rollout.stepTimeoutSeconds * 1000, what }, look);
  }
}

/** Looks for a repair once more, now that leaves can be used again, and carries it out. */
export async function repairIfNeeded(
  request: { spec: EtcdSpec; owner: string },
  observation: Observation,
  wanted: string | undefined,
  journal: Journal,
): Promise<Observation> {
  const { ports, spec } = observation.view;
  const found = await findRepair(ports, spec, observation, wanted);
  if (!found?.repair || found.blocked !== undefined) return observation;
  return carryOutRepair(request, observation, found.repair, journal);
}
