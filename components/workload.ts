import * as pulumi from "@pulumi/pulumi";
import type { EtcdSpec } from "../config/types";
import { type KubeObject, TEMPLATE_HASH } from "../manifests";
import { onlyIf } from "./only-if";
import { same } from "./same";

type Rendered = KubeObject & { spec: { template: { metadata: { annotations: Record<string, string> } } } };

/** Stands for the revision while the rest is rendered. */
const PLACEHOLDER = "revision-of-the-trust-bundle";

/**
 * The workload's arguments. The revision of the trust bundle may not be known in preview; only what it reaches is left
 * open then, so that flags, volumes and mounts show their differences.
 */
export function workloadArgs(
  render: (trustRevision: string | undefined) => KubeObject,
  trustRevision: pulumi.Output<string | undefined> | undefined,
): KubeObject {
  if (!trustRevision) return render(undefined);
  const manifest = render(PLACEHOLDER) as Rendered;
  const { annotations } = manifest.spec.template.metadata;
  const hash = trustRevision.apply((revision) => (render(revision) as Rendered).spec.template.metadata.annotations);
  Object.assign(annotations, { [TEMPLATE_HASH]: hash.apply((rendered) => rendered[TEMPLATE_HASH]) });
  return opened(manifest, trustRevision) as KubeObject;
}

/**
 * The workload, for a program whose walk has judged the very spec that it is rendered from. Where that was left out
 * (`pulumi up --target`), nobody has refused what would replace the workload, and no member has been walked: the
 * program fails, and no step for the workload is planned.
 */
export function onlyAfterWalk(workload: KubeObject, walked: pulumi.Output<EtcdSpec>, spec: EtcdSpec): KubeObject {
  return onlyIf(workload, "replicas", walked, (found) => demandWalked(found, spec));
}

/** Throws `RunError`, which is told without a stack trace. */
export function demandWalked(walked: EtcdSpec, spec: EtcdSpec): void {
  if (same(walked, spec)) return;
  throw new pulumi.RunError(
    `${spec.workload.kind} ${spec.namespace}/${spec.name}: the members have not been walked to this config. Run the update of the whole stack, without --target or --exclude`,
  );
}

/** Puts the Output in the place of every text that contains the placeholder. */
function opened(value: unknown, revision: pulumi.Output<string | undefined>): unknown {
  if (typeof value === "string") {
    return value.includes(PLACEHOLDER) ? revision.apply((known) => value.replace(PLACEHOLDER, known ?? "")) : value;
  }
  if (Array.isArray(value)) return value.map((item) => opened(item, revision));
  if (typeof value !== "object" || value === null || pulumi.Output.isInstance(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner, revision)]));
}
