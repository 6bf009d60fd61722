import * as pulumi from "@pulumi/pulumi";
import { ConfigError, describeProblem, type ParsedHosts, parseHosts } from "../config";
import { cloudInit, type HostMaterial, installScript } from "../manifests";
import { HostRollout } from "./dynamic";
import { OwnCa } from "./own-ca";
import { type LastOperation, lastOperation, owner } from "./rollout-outputs";

/** A certificate, with the intermediates that it needs after it, and its key; both PEM. */
export interface HostCertificate {
  certificate: pulumi.Input<string>;
  key: pulumi.Input<string>;
}

/**
 * The keys of `hostsSchema()`, and with `tls` the certificates: `tls.ca` has the program make them, or they are handed
 * in and must carry the names of every host (`hostSans`).
 */
export interface EtcdHostArgs {
  [key: string]: unknown;
  /** `peer` and `client` are the server's where they are left out. Kept as secrets. */
  certificates?: { server: HostCertificate; peer?: HostCertificate; client?: HostCertificate };
  /** CA certificates that members accept, PEM. A new CA is trusted before its certificates are served. */
  ca?: pulumi.Input<string>;
}

/**
 * etcd on hosts without Kubernetes, one member each, as systemd services; their TLS changes in place.
 *
 * The hosts are reached over SSH with keys of the agent, or of a file that is read when it is needed. For hosts that
 * are not, `installScripts` and `cloudInits` have the same files.
 */
export class EtcdHost extends pulumi.ComponentResource {
  /** Client URLs, one a host. */
  readonly endpoints: pulumi.Output<string[]>;
  readonly members: pulumi.Output<{ name: string; id: string; peerUrls: string[]; clientUrls: string[] }[]>;
  /** A shell script a host, by the member's name, that installs it. A secret: with TLS it holds private keys. */
  readonly installScripts: pulumi.Output<Record<string, string>>;
  /** cloud-init's user data a host, by the member's name. A secret, too. */
  readonly cloudInits: pulumi.Output<Record<string, string>>;
  readonly conditions: pulumi.Output<unknown[]>;
  readonly lastOperation: pulumi.Output<LastOperation>;

  /** @throws RunError naming every key that is not right, before any resource is declared. */
  constructor(name: string, args: EtcdHostArgs, opts?: pulumi.ComponentResourceOptions) {
    super("etcd:index:EtcdHost", name, {}, opts);
    const { certificates: handedIn, ca: handedCa, ...keys } = args;
    const { spec, access, own, warnings } = parse(keys, handedIn);
    for (const warning of warnings) pulumi.log.warn(describeProblem(warning), this);
    const made = own?.ca && new OwnCa(name, own, own.ca, this);
    const certificates = made ? byAlias(made) : handedIn;
    const ca = made ? made.certificate : handedCa;
    const leaves = pulumi.secret(pulumi.output(spec.tls ? (certificates ?? {}) : {})) as pulumi.Output<
      HostMaterial["leaves"]
    >;
    const trusted = spec.tls ? ca : undefined;
    const rollout = new HostRollout(
      name,
      { spec, access, owner: owner(), leaves, ...(trusted !== undefined && { ca: trusted }) },
      { parent: this, additionalSecretOutputs: ["leaves"] },
    );
    this.endpoints = rollout.endpoints;
    this.members = rollout.members;
    this.conditions = rollout.conditions;
    this.lastOperation = lastOperation(rollout);
    this.installScripts = scripts(spec, trusted, leaves);
    this.cloudInits = this.installScripts.apply((all) => mapValues(all, cloudInit));
    this.registerOutputs({ endpoints: this.endpoints, members: this.members, conditions: this.conditions });
  }
}

function byAlias({ leaves }: OwnCa): Record<string, HostCertificate> {
  return Object.fromEntries(leaves.map(({ spec, certificate, key }) => [spec.alias, { certificate, key }]));
}

function scripts(
  spec: ParsedHosts["spec"],
  ca: pulumi.Input<string> | undefined,
  leaves: pulumi.Output<HostMaterial["leaves"]>,
): pulumi.Output<Record<string, string>> {
  const render = ([pem, material]: [string | undefined, HostMaterial["leaves"]]) =>
    Object.fromEntries(
      spec.hosts!.members.map(({ name }, ordinal) => [
        name,
        installScript(spec, ordinal, pem === undefined ? undefined : { ca: pem, leaves: material }, owner()),
      ]),
    );
  return pulumi.secret(pulumi.all([pulumi.output(ca), leaves]).apply(render));
}

function mapValues(all: Record<string, string>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, map(value)]));
}

function parse(keys: Record<string, unknown>, certificates: EtcdHostArgs["certificates"]): ParsedHosts {
  try {
    const own = (["server", "peer", "client"] as const).filter((alias) => certificates?.[alias] !== undefined);
    return parseHosts(keys, own);
  } catch (error) {
    // A stack trace says nothing to somebody whose config has a typing error.
    throw error instanceof ConfigError ? new pulumi.RunError(error.message) : error;
  }
}
