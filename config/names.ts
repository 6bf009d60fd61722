import type { Alias, CertificateSource, EtcdSpec } from "./types";

/** The part of the spec that names and addresses are made of. */
export type Identity = Pick<EtcdSpec, "name" | "namespace" | "clusterDomain">;

/** Ports that every member listens on, in every stage. */
export const CLIENT_PORT = 2379;
export const PEER_PORT = 2380;
/** Plain http always: the kubelet's probes and metrics scrapers have no certificate. */
export const METRICS_PORT = 2381;

/** Name of a member in etcd, and of its pod. */
export function memberName(spec: Pick<EtcdSpec, "name">, ordinal: number): string {
  return `${spec.name}-${ordinal}`;
}

/** Fully qualified DNS name of a member under the headless Service: stable across restarts. */
export function memberHost(spec: Identity, ordinal: number): string {
  return `${memberName(spec, ordinal)}.${headlessServiceName(spec)}.${spec.namespace}.svc.${spec.clusterDomain}`;
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
  return `${scheme}://${memberHost(spec, ordinal)}:${PEER_PORT}`;
}

export function clientUrl(spec: Identity, ordinal: number, scheme: "http" | "https"): string {
  return `${scheme}://${memberHost(spec, ordinal)}:${CLIENT_PORT}`;
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
