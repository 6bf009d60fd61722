import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import type { EtcdSpec } from "../config/types";
import { labels } from "./labels";

/** The cluster's namespace. */
export class EtcdNamespace extends ApiObject {
  constructor(scope: Construct, id: string, spec: EtcdSpec) {
    super(scope, id, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: spec.namespace, labels: labels(spec, "namespace") },
    });
  }
}
