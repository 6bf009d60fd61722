import * as pulumi from "@pulumi/pulumi";
import { certificateSource } from "../config";
import type { EtcdSpec } from "../config/types";
import type { KubeObject } from "../manifests";
import { onlyIf } from "./only-if";
import { same } from "./same";

/** What of a spec decides which leaves come into being, and so which CAs members have to trust before that. */
export function issuedFor({ tls }: EtcdSpec): unknown {
  if (!tls) return undefined;
  const { certificates, trustedCAs, rotate } = tls;
  if (certificateSource(tls) === "issuer") return [trustedCAs, certificates, rotate ?? null];
  return [trustedCAs, certificates.map(({ issuerRef }) => issuerRef ?? null)];
}

/**
 * A Certificate for a program whose trust bundle was made for the very leaves that are asked for. If the trust bundle
 * was left out (`pulumi up --target`, `--exclude`), the issuer may sign with a CA that no member trusts: the program
 * fails, and nothing is issued.
 */
export function onlyTrusted(certificate: KubeObject, trusted: pulumi.Output<EtcdSpec>, spec: EtcdSpec): KubeObject {
  return onlyIf(certificate, "secretName", trusted, (found) => demandTrusted(found, spec, certificate.metadata.name));
}

/** Throws `RunError`, which is told without a stack trace. */
export function demandTrusted(trusted: EtcdSpec, spec: EtcdSpec, name: string): void {
  if (same(issuedFor(trusted), issuedFor(spec))) return;
  throw new pulumi.RunError(
    `Certificate ${spec.namespace}/${name}: the members have not been brought to trust what this config has issued. Run the update of the whole stack, without --target or --exclude`,
  );
}
