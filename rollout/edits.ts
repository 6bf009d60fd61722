import { finalStage, TEMPLATE_HASH } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { contains } from "./contains";
import type { Observation } from "./observe";
import type { Ports } from "./ports";
import { hashOf, type Rendering, renderStage } from "./render";

/**
 * What was observed, where somebody edited the template and left its hash in it: the template, and the pods that were
 * made from it, then count as made from another one. Whatever others add is theirs.
 */
export async function discountEdits(
  ports: Ports,
  observation: Observation,
  rendering: Rendering,
): Promise<Observation> {
  const { workload, pods } = observation;
  if (!workload || !(await isEdited(ports, workload.object, rendering))) return observation;
  return {
    ...observation,
    workload: { ...workload, templateAnnotations: withoutHash(workload.templateAnnotations) },
    pods: pods.map((pod) =>
      pod.revision === workload.updateRevision ? { ...pod, annotations: withoutHash(pod.annotations) } : pod,
    ),
  };
}

/** Units and defaults are the API server's to write: where something differs, it is asked how it would write ours. */
async function isEdited({ kube }: Ports, live: KubeObject, rendering: Rendering): Promise<boolean> {
  if (rendering.spec.hosts) return false;
  const stage = finalStage(rendering.spec);
  const hash = hashOf(rendering, stage);
  if (hash === undefined || templateOf(live)?.metadata?.annotations?.[TEMPLATE_HASH] !== hash) return false;
  const wanted = renderStage(rendering, stage, false);
  if (contains(templateOf(live), templateOf(wanted))) return false;
  // Admission that bears no dry run tells nothing; the apply itself is then the first to say what is wrong.
  const applied = await kube.apply(wanted, { dryRun: true }).catch(() => undefined);
  return applied !== undefined && !contains(templateOf(live), templateOf(applied));
}

interface Template {
  metadata?: { annotations?: Record<string, string> };
}

function templateOf({ spec }: KubeObject): Template | undefined {
  return (spec as { template?: Template } | undefined)?.template;
}

function withoutHash({ [TEMPLATE_HASH]: _, ...others }: Record<string, string>): Record<string, string> {
  return others;
}
