import * as pulumi from "@pulumi/pulumi";
import { type KubeObject, TEMPLATE_HASH } from "../manifests";

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

/** Puts the Output in the place of every text that contains the placeholder. */
function opened(value: unknown, revision: pulumi.Output<string | undefined>): unknown {
  if (typeof value === "string") {
    return value.includes(PLACEHOLDER) ? revision.apply((known) => value.replace(PLACEHOLDER, known ?? "")) : value;
  }
  if (Array.isArray(value)) return value.map((item) => opened(item, revision));
  if (typeof value !== "object" || value === null || pulumi.Output.isInstance(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner, revision)]));
}
