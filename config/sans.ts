import { clientServiceName, headlessServiceName, type Identity, memberHost, memberName } from "./names";

/** Names and addresses that a certificate must carry for the cluster to work. */
export interface RequiredSans {
  dnsNames: string[];
  ipAddresses: string[];
}

const LOOPBACK = ["127.0.0.1", "::1"];

/** Every name under which clients, probes of ours and the member's own gateway reach a client port. */
export function serverSans(spec: Identity, replicas: number): RequiredSans {
  return {
    dnsNames: [
      "localhost",
      ...serviceNames(clientServiceName(spec), spec),
      ...serviceNames(headlessServiceName(spec), spec),
      ...memberNames(spec, replicas),
    ],
    ipAddresses: LOOPBACK,
  };
}

/**
 * Every name under which peers reach each other.
 *
 * A member that is dialled compares the dialler's address with its certificate: it asks DNS for the address's names,
 * which the wildcard matches by its suffix, and else looks up the exact names. Hence both kinds.
 */
export function peerSans(spec: Identity, replicas: number): RequiredSans {
  return {
    dnsNames: ["localhost", ...serviceNames(headlessServiceName(spec), spec), ...memberNames(spec, replicas)],
    ipAddresses: LOOPBACK,
  };
}

function serviceNames(service: string, spec: Identity): string[] {
  const inCluster = `${service}.${spec.namespace}.svc`;
  return [service, `${service}.${spec.namespace}`, inCluster, `${inCluster}.${spec.clusterDomain}`];
}

function memberNames(spec: Identity, replicas: number): string[] {
  const domain = `${headlessServiceName(spec)}.${spec.namespace}.svc`;
  const exact = Array.from({ length: replicas }, (_, ordinal) => [
    memberHost(spec, ordinal),
    `${memberName(spec, ordinal)}.${domain}`,
  ]);
  return [...exact.flat(), `*.${domain}.${spec.clusterDomain}`];
}
