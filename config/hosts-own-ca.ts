import { tlsSpec } from "./certificates";
import { canonicalIp } from "./formats";
import { configPath } from "./problems";
import { tlsProblems } from "./rules-tls";
import type { RequiredSans } from "./sans";
import type { HostsTlsInput } from "./schema-hosts";
import type { Alias, ConfigProblem, TlsSpec } from "./types";

/** What a CA of the cluster's own makes for hosts. */
export type OwnTls = Pick<TlsSpec, "ca" | "certificates" | "rotate">;

/** The wishes for certificates, with every default filled in and the names of every host. Expects `tls.ca`. */
export function ownTls(wish: HostsTlsInput, name: string, replicas: number, sans: RequiredSans): OwnTls {
  const identity = { name, namespace: "hosts", clusterDomain: "" };
  const { ca, certificates, rotate } = tlsSpec(sourceOf(wish), identity, replicas);
  const named = certificates.map((certificate) => {
    const wanted = wish.certificates?.find(({ alias }) => alias === (certificate.sameAs ?? certificate.alias));
    const needed = certificate.alias === "client" && !certificate.sameAs ? { dnsNames: [], ipAddresses: [] } : sans;
    return {
      ...certificate,
      dnsNames: [...new Set([...needed.dnsNames, ...(wanted?.dnsNames ?? []).map((each) => each.toLowerCase())])],
      ipAddresses: [
        ...new Set([...needed.ipAddresses, ...(wanted?.ipAddresses ?? []).map((ip) => canonicalIp(ip) ?? ip)]),
      ],
    };
  });
  return { ...(ca && { ca }), certificates: named, ...(rotate !== undefined && { rotate }) };
}

/** `handedIn`: the certificates that the component is given. */
export function ownTlsProblems(wish: HostsTlsInput, name: string, handedIn: readonly Alias[]): ConfigProblem[] {
  if (!wish.ca) return withoutCa(wish);
  if (handedIn.length === 0) return tlsProblems(sourceOf(wish), name);
  return [
    {
      path: configPath(["tls", "ca"]),
      rule: "has no meaning beside certificates that the component is given",
      mend: "Keep one of the two",
    },
  ];
}

function withoutCa(wish: HostsTlsInput): ConfigProblem[] {
  return (["certificates", "rotate"] as const)
    .filter((key) => wish[key] !== undefined)
    .map((key) => ({
      path: configPath(["tls", key]),
      rule: "has no meaning without etcd:tls.ca: the certificates are handed to the component",
      mend: "Leave it out, or write etcd:tls.ca",
    }));
}

function sourceOf({ ca, certificates, rotate }: HostsTlsInput) {
  return { ca, ...(certificates && { certificates }), ...(rotate !== undefined && { rotate }) };
}
