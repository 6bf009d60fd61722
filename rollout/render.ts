import type { EtcdSpec } from "../config/types";
import { renderWorkload, TEMPLATE_HASH } from "../manifests";
import type { KubeObject, MemberSpec, Stage } from "../manifests/types";
import type { RolloutRequest } from "./engine";
import type { Observation } from "./observe";

/** The workload on one stage of a walk. */
export function renderPass(
  request: RolloutRequest,
  observation: Observation,
  stage: Stage,
  intermediate: boolean,
): KubeObject {
  const plain = stage.peer === "plain" && stage.client === "plain";
  const trustRevision = observation.trustRevision;
  const template = { stage, ...(!plain && trustRevision && { trustRevision }) };
  return renderWorkload(specFor(request.spec, observation, plain), template, { intermediate, owner: request.owner });
}

/** On the way out of TLS the spec names no certificates any more: those that the members run with are used. */
function specFor(spec: EtcdSpec, { liveTls }: Observation, plain: boolean): MemberSpec {
  if (spec.tls || plain) return spec;
  if (!liveTls)
    throw new Error(`${spec.namespace}/${spec.name}: the members need TLS to walk on, but no certificates are known`);
  return { ...spec, tls: liveTls };
}

/** Hash of the member template on a stage; `undefined` while the trust bundle is not there yet. */
export function hashOf(request: RolloutRequest, observation: Observation, stage: Stage): string | undefined {
  const plain = stage.peer === "plain" && stage.client === "plain";
  if (!plain && !observation.trustRevision) return undefined;
  return templateAnnotations(renderPass(request, observation, stage, false))[TEMPLATE_HASH];
}

function templateAnnotations(workload: KubeObject): Record<string, string> {
  const spec = workload.spec as { template: { metadata: { annotations: Record<string, string> } } };
  return spec.template.metadata.annotations;
}
