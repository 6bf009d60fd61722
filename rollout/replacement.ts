import type { ConfigProblem, EtcdSpec } from "../config/types";
import { PLAIN, renderWorkload } from "../manifests";
import { contains } from "./contains";
import type { LiveWorkload } from "./ports";

/**
 * Fields of the workload that cannot be changed on a live one. Pulumi's Kubernetes provider replaces a StatefulSet for
 * each of them, which stops every member at once (`forceNewProperties` in its diff.go).
 */
export const FIXED_FIELDS = [
  "serviceName",
  "selector",
  "podManagementPolicy",
  "revisionHistoryLimit",
  "volumeClaimTemplates",
] as const;

/**
 * The last look before Pulumi comes to the workload: whatever the reason (the config is judged before, in
 * `config/refusals.ts`; another is a version of this package that renders something else), it is not replaced.
 */
export function checkReplacement(spec: EtcdSpec, live: LiveWorkload): ConfigProblem[] {
  const { tls: _, ...plain } = spec;
  // None of these fields depends on the stage, and the plain one needs no certificates.
  const rendered = renderWorkload(plain, { stage: PLAIN }).spec as Record<string, unknown>;
  const current = (live.object.spec ?? {}) as Record<string, unknown>;
  const differing = FIXED_FIELDS.filter((field) => !contains(current[field], rendered[field]));
  if (differing.length === 0) return [];
  return [
    {
      path: "etcd:name",
      value: spec.name,
      rule: `${live.kind} ${spec.namespace}/${spec.name} differs in ${differing.map((field) => `spec.${field}`).join(", ")}, which cannot be changed on a live one: Pulumi would replace it and stop every member`,
      mend: "Go back to the version of pulumi-etcd, or undo the edit, that it was made with; for another layout make another cluster in a stack of its own and move the data",
    },
  ];
}
