import type { CertificateSpec, EtcdSpec, TlsSpec } from "../config/types";

/** What a member speaks on one plane. `bridge` works next to both of its neighbours. */
export type PlaneStage = "plain" | "bridge" | "tls";

/** A member template that is safe next to the one before it and the one after it. */
export interface Stage {
  peer: PlaneStage;
  client: PlaneStage;
}

/**
 * What of the TLS settings reaches the members' pods: which Secrets they mount and which flags they run with. Names
 * and settings only, no secrets. What is absent, as in a workload's record from before it existed, is the default.
 */
export interface MemberTls extends Partial<Pick<TlsSpec, "client" | "minVersion" | "cipherSuites">> {
  certificates: Pick<CertificateSpec, "alias" | "secretName">[];
}

/** The spec as far as the members' pods follow from it. */
export type MemberSpec = Omit<EtcdSpec, "tls"> & { tls?: MemberTls };

/** Everything besides the spec that decides what a member's pod looks like. */
export interface MemberTemplate {
  stage: Stage;
  /** Revision of the trust bundle that the pods were started with; absent on the stage `plain`. */
  trustRevision?: string;
}

export interface WorkloadOptions {
  /** A template on the way to the final one: carries no pulumi.com annotations, so that Pulumi's next apply sees a difference. */
  intermediate?: boolean;
  /** TLS settings that pods still run with although this template has none: a walk needs them to ask its members. */
  formerTls?: MemberTls;
  /** Who owns the cluster: kept as an annotation of the workload. */
  owner?: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** A rendered Kubernetes object: plain JSON. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}
