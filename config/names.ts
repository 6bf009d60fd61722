import { canonicalIp } from "./formats";
import type { Alias, CertificateSource, EtcdSpec } from "./types";

/** The part of the spec that names and addresses are made of. */
export type Identity = Pick<EtcdSpec, "name" | "namespace" | "clusterDomain" | "hosts">;

/** Ports that every member listens on, in every stage. */
export const CLIENT_PORT = 2379;
export const PEER_PORT = 2380;
/** Plain http always: the kubelet's probes and metrics scrapers have no certificate. */
export const METRICS_PORT = 2381;

/** Name of a member in etcd, and of its pod or host. */
export function memberName(spec: Pick<EtcdSpec, "name" | "hosts">, ordinal: number): string {
  return spec.hosts?.members[ordinal]?.name ?? `${spec.name}-${ordinal}`;
}

/**
 * The name that a member's certificates are verified under. In Kubernetes its fully qualified DNS name under the
 * headless Service, stable across restarts; on hosts the host's name in the config.
 */
export function memberHost(spec: Identity, ordinal: number): string {
  const host = spec.hosts?.members[ordinal];
  if (host) return host.name;
  return `${memberName(spec, ordinal)}.${headlessServiceName(spec)}.${spec.namespace}.svc.${spec.clusterDomain}`;
}

/** Where a member is dialled, as URLs have it: an IPv6 address in brackets. */
export function memberAddress(spec: Identity, ordinal: number): string {
  const host = spec.hosts?.members[ordinal];
  return host ? inUrl(host.address) : memberHost(spec, ordinal);
}

/** An address as URLs have it. */
export function inUrl(address: string): string {
  return address.includes(":") ? `[${canonicalIp(address) ?? address}]` : address;
}

/** Service that gives each member its DNS name. */
export function headlessServiceName(spec: Pick<EtcdSpec, "name">): string {
  return `${spec.name}-pods`;
}

/** Service that clients connect to. */
export function clientServiceName(spec: Pick<EtcdSpec, "name">): string {
  return spec.name;
}

export function peerUrl(spec: Identity, ordinal: number, scheme: "http" | "https"): string {
  return `${scheme}://${memberAddress(spec, ordinal)}:${PEER_PORT}`;
}

export function clientUrl(spec: Identity, ordinal: number, scheme: "http" | "https"): string {
  return `${scheme}://${memberAddress(spec, ordinal)}:${CLIENT_PORT}`;
}

/** ConfigMap with the CA certificates that members accept and that clients should trust, under the key `ca.crt`. */
export function trustBundleName(spec: Pick<EtcdSpec, "name">): string {
  return `${spec.name}-trust-bundle`;
}

/** Name of the cert-manager Certificate, and of its Secret unless the user names one (KubeDB's convention). */
export function certificateName(spec: Pick<EtcdSpec, "name">, alias: Alias): string {
  return `${spec.name}-${alias}-cert`;
}

const SECRET_SUFFIX: Record<CertificateSource, string> = { issuer: "cert", ca: "own-cert", secrets: "copied-cert" };

/**
 * The Secret that members mount unless the user names one. Another source has another name: cert-manager would
 * overwrite what it did not make as long as its Certificate is there.
 */
export function leafSecretName(spec: Pick<EtcdSpec, "name">, alias: Alias, source: CertificateSource): string {
  return `${spec.name}-${alias}-${SECRET_SUFFIX[source]}`;
}
