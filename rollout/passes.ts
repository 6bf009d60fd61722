import { peerUrl } from "../config/names";
import { PLAIN, stageOf, TEMPLATE_HASH } from "../manifests";
import type { Stage } from "../manifests/types";
import type { Journal } from "./journal";
import { type Observation, plannedPods } from "./observe";
import { NO_PLAN, type Plan, planRollout } from "./plan";
import { hashOf, type Rendering, renderStage } from "./render";
import { refuseVersion } from "./version-steps";
import { PassWalker } from "./walk";

/** Lays out the walk of what was observed to one stage of one rendering. */
export function planWalk(
  observation: Observation,
  rendering: Rendering,
  target: Stage,
  options: { label?: string; leader?: string },
): Plan {
  const { workload } = observation;
  if (!workload) return NO_PLAN;
  const { spec } = rendering;
  const templateHash = workload.templateAnnotations[TEMPLATE_HASH];
  const leader = options.leader ?? observation.leader;
  return planRollout({
    replicas: spec.replicas,
    target,
    pods: plannedPods(spec, observation),
    templateStage: stageOf(workload.templateAnnotations) ?? PLAIN,
    ...(templateHash && { templateHash }),
    hashOf: (stage) => hashOf(rendering, stage),
    ...(leader && { leader }),
    peerUrl: (ordinal, scheme) => peerUrl(spec, ordinal, scheme),
    ...(options.label && { label: options.label }),
  });
}

/**
 * Carries a plan out. `final`: the last template is the one that Pulumi renders, too; otherwise another walk follows.
 */
export async function walk(
  observation: Observation,
  rendering: Rendering,
  plan: Plan,
  journal: Journal,
  final: boolean,
): Promise<void> {
  await refuseVersion(observation, plan, final);
  for (const pass of plan.passes) {
    const manifest = renderStage(rendering, pass.to, pass.intermediate || !final);
    await new PassWalker(observation.view, pass, manifest, journal).run();
  }
}
