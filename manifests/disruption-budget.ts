import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import type { EtcdSpec } from "../config/types";
import { labels, memberSelector } from "./labels";

/**
 * One member at a time, whoever evicts: a drain or the engine.
 *
 * A pod that is not healthy may always be evicted. It serves nobody, its data stays on its volume, and a member that
 * cannot start would otherwise keep the engine from giving it a template that works.
 */
export class DisruptionBudget extends ApiObject {
  constructor(scope: Construct, id: string, spec: EtcdSpec) {
    super(scope, id, {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: spec.name, namespace: spec.namespace, labels: labels(spec, "member") },
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: "AlwaysAllow",
        selector: { matchLabels: memberSelector(spec) },
      },
    });
  }
}
