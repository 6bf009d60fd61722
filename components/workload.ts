import type * as pulumi from "@pulumi/pulumi";
import { type KubeObject, TEMPLATE_HASH, TRUST_REVISION } from "../manifests";

type Rendered = KubeObject & { spec: { template: { metadata: { annotations: Record<string, string> } } } };

/**
 * The workload's arguments. The revision of the trust bundle may not be known in preview; only the two annotations
 * that it reaches are left open then, so that flags, volumes and mounts show their differences.
 */
export function workloadArgs(
  render: (trustRevision: string | undefined) => KubeObject,
  trustRevision: pulumi.Output<string | undefined> | undefined,
): KubeObject {
  if (!trustRevision) return render(undefined);
  const manifest = render("unknown") as Rendered;
  const annotation = (key: string) =>
    trustRevision.apply((revision) => (render(revision) as Rendered).spec.template.metadata.annotations[key]);
  const open = { [TRUST_REVISION]: annotation(TRUST_REVISION), [TEMPLATE_HASH]: annotation(TEMPLATE_HASH) };
  const { template } = manifest.spec;
  const annotations = { ...template.metadata.annotations, ...open };
  const metadata = { ...template.metadata, annotations };
  return { ...manifest, spec: { ...manifest.spec, template: { ...template, metadata } } } as unknown as KubeObject;
}
