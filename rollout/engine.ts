import { classify, peerUrl } from "../config";
import type { ConfigProblem, EtcdSpec, OperationKind } from "../config/types";
import { finalStage, PLAIN, stageOf, TEMPLATE_HASH } from "../manifests";
import { awaitCertificates } from "./certificates";
import { evaluateGate } from "./gate";
import { type Observation, observe, plannedPods } from "./observe";
import { type Pass, type Plan, planRollout, type Step } from "./plan";
import type { Condition, ConditionType, Ports } from "./ports";
import { checkOwnership, checkPrerequisites } from "./preflight";
import { Refusal } from "./problems";
import { hashOf, renderPass } from "./render";
import { FatalError } from "./wait";
import { PassWalker, type RestartRecord } from "./walk";

/** What the user asked for, and on whose behalf. */
export interface RolloutRequest {
  spec: EtcdSpec;
  /** Who owns the cluster, such as `organization/project/stack`: two programs must not walk one cluster. */
  owner: string;
}

export interface Preview {
  operation: OperationKind;
  /** The plan as readable lines; empty where nothing is to be done. */
  plan: string[];
  notes: string[];
}

export interface Outcome {
  operation: OperationKind;
  /** What was done, in the plan's words. */
  steps: string[];
  conditions: Condition[];
  restarts: RestartRecord[];
  durationMs: number;
  /** Revision of the trust bundle in the member template; absent on a plain cluster. */
  trustRevision?: string;
}

/**
 * What an update would do, read from the live cluster. Throws `Refusal` with everything that speaks against it;
 * changes nothing.
 */
export async function previewRollout(ports: Ports, request: RolloutRequest, previous?: EtcdSpec): Promise<Preview> {
  const { spec, owner } = request;
  const problems = await checkPrerequisites(ports, spec);
  // The kinds that are missing are the first thing to mend; nothing below can be asked without them.
  if (problems.length > 0) throw new Refusal(problems);
  const operation = classify(previous, spec);
  const observation = await observe(ports, spec);
  if (!observation.workload) return { operation: operation.kind, plan: [], notes: [] };
  const ownership = checkOwnership(spec, owner, observation.workload);
  if (ownership.length > 0) throw new Refusal(ownership);
  const plan = planFor(request, observation);
  if (plan.steps.length > 0) await refuseUnhealthy(observation, spec);
  const kind = plan.steps.length > 0 && operation.kind === "none" ? "template" : operation.kind;
  return { operation: kind, plan: plan.steps.map((step) => step.text), notes: plan.notes };
}

/** A walk that could not start is refused in preview. A hiccup that passes within seconds is no refusal. */
async function refuseUnhealthy({ view }: Observation, spec: EtcdSpec): Promise<void> {
  let reasons: string[] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    if (attempt > 0) await view.ports.clock.sleep(1000);
    const down = plannedPods(spec, await observe(view.ports, spec)).filter((pod) => !pod.ready);
    // One member that is down may be what the update is to mend.
    const verdict = await evaluateGate(view, down.length === 1 ? down[0]?.name : undefined);
    if (verdict.open) return;
    reasons = verdict.reasons;
  }
  throw new Refusal([unhealthy(spec, reasons)]);
}

function unhealthy(spec: EtcdSpec, reasons: string[]): ConfigProblem {
  return {
    path: "etcd:name",
    value: spec.name,
    rule: `members cannot be restarted while the cluster is not healthy: ${reasons.join("; ")}`,
    mend: "Mend these members first (kubectl describe pod, kubectl logs), then run the update again; nothing was changed",
  };
}

/** Carries the spec out on the members that run; nothing to do where there are none yet. */
export async function carryOut(ports: Ports, request: RolloutRequest, previous?: EtcdSpec): Promise<Outcome> {
  return new Run(ports, request).carryOut(classify(previous, request.spec).kind);
}

class Run {
  private readonly steps: string[] = [];
  private readonly conditions: Condition[] = [];
  private readonly restarts: RestartRecord[] = [];
  private readonly started: number;

  constructor(
    private readonly ports: Ports,
    private readonly request: RolloutRequest,
  ) {
    this.started = ports.clock.now();
  }

  async carryOut(operation: OperationKind): Promise<Outcome> {
    const { spec, owner } = this.request;
    await this.syncCertificates();
    const observation = await observe(this.ports, spec);
    if (observation.workload) {
      const problems = checkOwnership(spec, owner, observation.workload);
      if (problems.length > 0) throw new Refusal(problems);
      await this.walk(observation);
      this.condition("UpdateDatabase", "every member is where the spec wants it");
    }
    this.condition("Successful", `${operation} finished`);
    return {
      operation,
      steps: this.steps,
      conditions: this.conditions,
      restarts: this.restarts,
      durationMs: this.ports.clock.now() - this.started,
      ...(spec.tls && { trustRevision: observation.trustRevision }),
    };
  }

  private async syncCertificates(): Promise<void> {
    if (!this.request.spec.tls) return;
    await awaitCertificates(this.ports, this.request.spec);
    this.condition("CertificateSynced", "every certificate is issued");
  }

  private async walk(observation: Observation): Promise<void> {
    const plan = planFor(this.request, observation);
    for (const pass of plan.passes) await this.walkPass(pass, plan, observation);
    if (plan.passes.length === 0) return;
    const left = planFor(this.request, await observe(this.ports, this.request.spec)).steps;
    if (left.length > 0) {
      throw new FatalError(
        `the walk ended, but this is left: ${left.map((step) => step.text).join("; ")}. Run the update again`,
      );
    }
  }

  private walkPass(pass: Pass, plan: Plan, observation: Observation): Promise<void> {
    const manifest = renderPass(this.request, observation, pass.to, pass.intermediate);
    const record = (step: Step, detail: string, condition: ConditionType) => this.record(step, detail, condition);
    return new PassWalker(observation.view, pass, plan.passes.length, manifest, record, this.restarts).run();
  }

  private record(step: Step, detail: string, condition: ConditionType): void {
    this.steps.push(step.text);
    this.ports.report.step({ step: step.text, detail, condition });
    this.condition(condition, step.text);
  }

  /** One entry a type: the latest word on it, as in a Kubernetes status. */
  private condition(type: ConditionType, message: string): void {
    const lastTransitionTime = new Date(this.ports.clock.now()).toISOString();
    const entry: Condition = { type, status: "True", reason: type, message, lastTransitionTime };
    const index = this.conditions.findIndex((known) => known.type === type);
    if (index < 0) this.conditions.push(entry);
    else this.conditions[index] = entry;
  }
}

function planFor(request: RolloutRequest, observation: Observation): Plan {
  const { spec } = request;
  const workload = observation.workload;
  if (!workload) return { passes: [], steps: [], notes: [] };
  const pods = plannedPods(spec, observation);
  return planRollout({
    replicas: spec.replicas,
    target: finalStage(spec),
    pods,
    templateStage: stageOf(workload.templateAnnotations) ?? PLAIN,
    ...(workload.templateAnnotations[TEMPLATE_HASH] && { templateHash: workload.templateAnnotations[TEMPLATE_HASH] }),
    hashOf: (stage) => hashOf(request, observation, stage),
    ...(observation.leader && { leader: observation.leader }),
    peerUrl: (ordinal, scheme) => peerUrl(spec, ordinal, scheme),
  });
}
