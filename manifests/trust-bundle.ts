import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { trustBundleName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { labels } from "./labels";
import { memberBundleKey, normalizeTrust, trustRevision } from "./trust";

/** Key of the ConfigMap under which clients find the certificates. */
export const TRUST_BUNDLE_KEY = "ca.crt";

/**
 * The CA certificates that members accept, in a ConfigMap of our own that members and clients mount. `earlier`: keys
 * of revisions that some member may still be started with.
 */
export class TrustBundle extends ApiObject {
  constructor(scope: Construct, id: string, spec: Pick<EtcdSpec, "name" | "namespace">, pem: string, earlier = {}) {
    const certificates = normalizeTrust(pem);
    super(scope, id, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: trustBundleName(spec), namespace: spec.namespace, labels: labels(spec, "trust-bundle") },
      data: {
        ...earlier,
        [TRUST_BUNDLE_KEY]: certificates,
        [memberBundleKey(trustRevision(pem))]: certificates,
      },
    });
  }
}
