import * as pulumi from "@pulumi/pulumi";
import type { EtcdSpec, HostsAccess } from "../config/types";
import { loader, type ProviderName } from "./loader";

/** A dynamic resource of this package: thin, typed `pulumi-nodejs:dynamic/etcd:<Type>`, told its own URN. */
class EtcdDynamicResource extends pulumi.dynamic.Resource {
  constructor(
    provider: ProviderName,
    type: string,
    name: string,
    props: pulumi.Inputs,
    opts: pulumi.CustomResourceOptions,
  ) {
    const resourceUrn = pulumi.createUrn(name, `pulumi-nodejs:dynamic/etcd:${type}`, opts.parent);
    const told = { resourceUrn: withoutDependencies(resourceUrn), dryRun: pulumi.runtime.isDryRun() };
    super(loader(provider), name, { ...props, ...told }, opts, "etcd", type);
  }
}

/**
 * The value alone. An input that is derived from the parent's URN would make the resource depend on its parent, that
 * is on all of the parent's children, itself among them.
 */
function withoutDependencies(output: pulumi.Output<string>): Promise<string> {
  return new Promise((resolve) => output.apply(resolve));
}

export interface TrustBundleArgs {
  spec: EtcdSpec;
  owner: string;
  /** The cluster's own CA, PEM. */
  ca?: pulumi.Input<string>;
}

/** The CA certificates that members accept, widened before any certificate of a new CA exists. */
export class TrustBundle extends EtcdDynamicResource {
  /** What members have been brought to trust the issuers of. */
  declare readonly spec: pulumi.Output<EtcdSpec>;
  /** What the bundle is to hold once nothing of an older CA is served, PEM. */
  declare readonly settled: pulumi.Output<string>;

  constructor(name: string, args: TrustBundleArgs, opts: pulumi.CustomResourceOptions) {
    super("trustBundle", "TrustBundle", name, { ...args, settled: undefined }, opts);
  }
}

/** What a walk leaves on record, as outputs that are not known before it. */
const WALK_RECORD = {
  operation: undefined,
  plan: undefined,
  steps: undefined,
  conditions: undefined,
  restarts: undefined,
  durationMs: undefined,
  completedAt: undefined,
  trustRevision: undefined,
};

/** A resource that walks members, wherever they run. */
class WalkResource extends EtcdDynamicResource {
  declare readonly operation: pulumi.Output<string>;
  declare readonly steps: pulumi.Output<string[]>;
  declare readonly conditions: pulumi.Output<unknown[]>;
  declare readonly restarts: pulumi.Output<unknown[]>;
  declare readonly durationMs: pulumi.Output<number>;
  declare readonly completedAt: pulumi.Output<string>;
}

export interface RolloutArgs {
  spec: EtcdSpec;
  owner: string;
  /** PEM, from TrustBundle. */
  settled?: pulumi.Input<string>;
  /** The cluster's own CA, PEM. */
  ca?: pulumi.Input<string>;
  /** Fingerprints of the leaves that cert-manager does not make, by alias. */
  leaves?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** The walk of the live members to the spec. */
export class Rollout extends WalkResource {
  /** What the members have been walked to. */
  declare readonly spec: pulumi.Output<EtcdSpec>;
  declare readonly trustRevision: pulumi.Output<string | undefined>;

  constructor(name: string, args: RolloutArgs, opts: pulumi.CustomResourceOptions) {
    super("rollout", "Rollout", name, { ...args, ...WALK_RECORD }, opts);
  }
}

export interface MembershipArgs {
  spec: EtcdSpec;
  rolloutCompletedAt: pulumi.Input<string>;
}

/** The verified cluster. */
export class Membership extends EtcdDynamicResource {
  declare readonly endpoints: pulumi.Output<string[]>;
  declare readonly members: pulumi.Output<{ name: string; id: string; peerUrls: string[]; clientUrls: string[] }[]>;
  declare readonly clientSecretName: pulumi.Output<string>;
  declare readonly caBundle: pulumi.Output<string>;

  constructor(name: string, args: MembershipArgs, opts: pulumi.CustomResourceOptions) {
    const outputs = { endpoints: undefined, members: undefined, clientSecretName: undefined, caBundle: undefined };
    super("membership", "Membership", name, { ...args, ...outputs, drift: undefined }, opts);
  }
}

export interface CertificateSecretArgs {
  namespace: string;
  secretName: string;
  certificateName: string;
}

/** The Secret that a Certificate is kept in: goes after the Certificate, and not before the last pod lets go of it. */
export class CertificateSecret extends EtcdDynamicResource {
  constructor(name: string, args: CertificateSecretArgs, opts: pulumi.CustomResourceOptions) {
    super("certificateSecret", "CertificateSecret", name, { ...args }, opts);
  }
}

export interface LeafSecretArgs extends CertificateSecretArgs {
  /** Name of the etcd cluster. */
  cluster: string;
  /** PEM, as are the others. */
  certificate: pulumi.Input<string>;
  /** Must be a Pulumi secret. */
  key: pulumi.Input<string>;
  ca: pulumi.Input<string>;
}

/** A Secret with a leaf of the cluster's own CA, updated in place. */
export class LeafSecret extends EtcdDynamicResource {
  constructor(name: string, args: LeafSecretArgs, opts: pulumi.CustomResourceOptions) {
    super("leafSecret", "LeafSecret", name, { ...args }, { ...opts, additionalSecretOutputs: ["key"] });
  }
}

export interface CopiedSecretArgs extends CertificateSecretArgs {
  spec: EtcdSpec;
  alias: string;
}

/** A copy of a Secret that somebody else maintains: what members and clients mount. */
export class CopiedSecret extends EtcdDynamicResource {
  /** Of the certificate that is copied. */
  declare readonly fingerprint: pulumi.Output<string>;

  constructor(name: string, args: CopiedSecretArgs, opts: pulumi.CustomResourceOptions) {
    super("copiedSecret", "CopiedSecret", name, { ...args, fingerprint: undefined }, opts);
  }
}

export interface HostRolloutArgs {
  spec: EtcdSpec;
  access: HostsAccess;
  owner: string;
  ca?: pulumi.Input<string>;
  /** A secret. */
  leaves: pulumi.Input<Record<string, { certificate: string; key: string }>>;
}

/** The members on hosts: installed, walked and verified. */
export class HostRollout extends WalkResource {
  declare readonly endpoints: pulumi.Output<string[]>;
  declare readonly members: pulumi.Output<{ name: string; id: string; peerUrls: string[]; clientUrls: string[] }[]>;

  constructor(name: string, args: HostRolloutArgs, opts: pulumi.CustomResourceOptions) {
    super("hosts", "HostRollout", name, { ...args, ...WALK_RECORD, endpoints: undefined, members: undefined }, opts);
  }
}
