import type { KubeObject } from "../../manifests/types";
import type { LiveWorkload } from "../ports";

/** API version of each kind of workload. */
export const workloadApiVersion: Record<Exclude<LiveWorkload["kind"], "HostSet">, string> = {
  StatefulSet: "apps/v1",
  PetSet: "apps.k8s.appscode.com/v1",
};

interface WorkloadObject extends KubeObject {
  metadata: KubeObject["metadata"] & { uid: string; generation?: number };
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: { metadata?: { annotations?: Record<string, string> } };
  };
  status?: { observedGeneration?: number; updateRevision?: string };
}

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export function liveWorkload(kind: LiveWorkload["kind"], object: KubeObject): LiveWorkload {
  const { metadata, spec, status } = object as WorkloadObject;
  return {
    kind,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    observedGeneration: status?.observedGeneration ?? 0,
    replicas: spec.replicas ?? 1,
    updateRevision: status?.updateRevision ?? "",
    annotations: metadata.annotations ?? {},
    templateAnnotations: spec.template.metadata?.annotations ?? {},
    object,
  };
}

/** The workload's pod selector in the form that list requests take. */
export function podSelector(object: KubeObject): string {
  const { matchLabels = {}, matchExpressions = [] } = (object as WorkloadObject).spec.selector;
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...labels, ...matchExpressions.map(expression)].join(",");
}

function expression({ key, operator, values = [] }: { key: string; operator: string; values?: string[] }): string {
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`;
}
