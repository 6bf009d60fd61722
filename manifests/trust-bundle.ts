import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { trustBundleName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { labels } from "./labels";
import { normalizeTrust } from "./trust";

/** Key of the ConfigMap that holds the certificates. */
export const TRUST_BUNDLE_KEY = "ca.crt";

/** The CA certificates that members accept, in a ConfigMap of our own that members and clients mount. */
export class TrustBundle extends ApiObject {
  constructor(scope: Construct, id: string, spec: Pick<EtcdSpec, "name" | "namespace">, pem: string) {
    super(scope, id, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: trustBundleName(spec), namespace: spec.namespace, labels: labels(spec, "trust-bundle") },
      data: { [TRUST_BUNDLE_KEY]: normalizeTrust(pem) },
    });
  }
}
