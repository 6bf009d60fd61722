import type { EtcdSpec } from "../config/types";
import { renderWorkload, TEMPLATE_HASH } from "../manifests";
import type { KubeObject, MemberSpec, MemberTls, Stage } from "../manifests/types";

/** What besides the stage decides how the members of a walk look. */
export interface Rendering {
  spec: EtcdSpec;
  owner: string;
  /** TLS settings for stages that have TLS material; absent where neither the spec nor the live workload names any. */
  tls?: MemberTls;
  /** Revision of the trust bundle; absent while it is not known. */
  trustRevision?: string;
}

function isPlain(stage: Stage): boolean {
  return stage.peer === "plain" && stage.client === "plain";
}

/** The workload on one stage of a walk. */
export function renderStage(rendering: Rendering, stage: Stage, intermediate: boolean): KubeObject {
  const { owner, trustRevision } = rendering;
  const template = { stage, ...(!isPlain(stage) && trustRevision && { trustRevision }) };
  // Pods that serve TLS until they are restarted can be asked only by somebody who knows their certificates.
  const formerTls = rendering.spec.tls ? undefined : rendering.tls;
  const options = { intermediate, owner, ...(formerTls && { formerTls }) };
  return renderWorkload(specFor(rendering, stage), template, options);
}

/** On the way out of TLS the spec names no certificates any more: those that the members run with are used. */
function specFor({ spec, tls }: Rendering, stage: Stage): MemberSpec {
  const { tls: _, ...rest } = spec;
  if (isPlain(stage)) return rest;
  if (!tls)
    throw new Error(`${spec.namespace}/${spec.name}: members need TLS to walk on, but no certificates are known`);
  return { ...rest, tls };
}

/** Hash of the member template on a stage; `undefined` while the trust bundle is not known. */
export function hashOf(rendering: Rendering, stage: Stage): string | undefined {
  if (!isPlain(stage) && (!rendering.trustRevision || !rendering.tls)) return undefined;
  return templateHash(renderStage(rendering, stage, false));
}

/** Hash of the member template that a rendered workload carries. */
export function templateHash(manifest: KubeObject): string | undefined {
  const { template } = manifest.spec as PodTemplateHolder;
  return template.metadata.annotations[TEMPLATE_HASH];
}

interface PodTemplateHolder {
  template: { metadata: { annotations: Record<string, string> } };
}
