import { createHash } from "node:crypto";
import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { headlessServiceName } from "../config/names";
import type { WorkloadSpec } from "../config/types";
import { FIELD_MANAGER, OWNER, TEMPLATE_HASH, TLS_SETTINGS } from "./annotations";
import { labels, memberSelector } from "./labels";
import { memberTls } from "./member-tls";
import { podTemplate } from "./pod";
import type { MemberSpec, MemberTemplate, WorkloadOptions } from "./types";
import { volumeClaimTemplates } from "./volumes";

const API_VERSION: Record<WorkloadSpec["kind"], string> = {
  StatefulSet: "apps/v1",
  PetSet: "apps.k8s.appscode.com/v1",
};

/**
 * Runs the members: StatefulSet or PetSet.
 *
 * `OnDelete`: the controller replaces only pods that the engine evicted, in the engine's order. `Parallel`: a member
 * becomes ready only with the others, so that none may wait for another. Everything that a controller would otherwise
 * fill in is set, or the controller would own it.
 */
export class MemberSet extends ApiObject {
  constructor(scope: Construct, id: string, spec: MemberSpec, template: MemberTemplate, options: WorkloadOptions) {
    const pods = signed(podTemplate(spec, template));
    super(scope, id, {
      apiVersion: API_VERSION[spec.workload.kind],
      kind: spec.workload.kind,
      metadata: {
        name: spec.name,
        namespace: spec.namespace,
        labels: labels(spec, "member"),
        annotations: annotations(spec, template, options),
      },
      spec: {
        replicas: spec.replicas,
        serviceName: headlessServiceName(spec),
        selector: { matchLabels: memberSelector(spec) },
        updateStrategy: { type: "OnDelete" },
        podManagementPolicy: "Parallel",
        revisionHistoryLimit: 10,
        podPlacementPolicy: placement(spec),
        template: pods,
        volumeClaimTemplates: volumeClaimTemplates(spec, memberSelector(spec)),
      },
    });
  }
}

/**
 * Without the pulumi.com annotations on a template that is only passed through, Pulumi's next apply of the final one
 * differs from what is live, and so repairs whatever an interrupted walk left behind.
 */
function annotations(
  spec: MemberSpec,
  { stage }: MemberTemplate,
  { intermediate, owner, formerTls }: WorkloadOptions,
): Record<string, string> {
  const forPulumi = { "pulumi.com/patchFieldManager": FIELD_MANAGER, "pulumi.com/skipAwait": "true" };
  const plain = stage.peer === "plain" && stage.client === "plain";
  const tls = plain ? formerTls : spec.tls;
  return {
    ...(intermediate ? {} : forPulumi),
    ...(tls && { [TLS_SETTINGS]: JSON.stringify(memberTls(tls)) }),
    ...(owner !== undefined && { [OWNER]: owner }),
  };
}

type PodTemplate = ReturnType<typeof podTemplate>;

/** Every pod says which template it was made from: that is how an interrupted walk knows who is there already. */
function signed(pods: PodTemplate): PodTemplate {
  const hash = createHash("sha256").update(JSON.stringify(pods)).digest("hex").slice(0, 16);
  const annotations = { ...pods.metadata.annotations, [TEMPLATE_HASH]: hash };
  return { ...pods, metadata: { ...pods.metadata, annotations } };
}

function placement({ workload }: MemberSpec) {
  return workload.podPlacementPolicy === undefined ? undefined : { name: workload.podPlacementPolicy };
}
