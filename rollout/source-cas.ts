import { certificateSource } from "../config/source";
import type { CaSpec, EtcdSpec, IssuerRef } from "../config/types";
import { inOneLine, readTrustedCas, union } from "./bundle";
import { givenCas } from "./given-secrets";
import type { Ports } from "./ports";
import { issuersOf } from "./preflight";

/** A spec, and the CA of its own where it has been made already. */
export interface Sourced {
  spec: EtcdSpec;
  /** PEM, with the source `ca` only; absent while it has not been made. */
  ca?: string;
}

/**
 * What the trust bundle is to hold in the end, PEM: the CAs of whatever issues the certificates, and those that the
 * spec names. `undefined` as soon as one is not known; `lookUp` finds those of issuers.
 */
export async function settledBundle<Ca extends string | undefined>(
  ports: Ports,
  { spec, ca }: Sourced,
  lookUp: (ref: IssuerRef) => Promise<Ca>,
): Promise<Ca | undefined> {
  const cas: string[] = [];
  for (const find of sources(ports, spec, ca, lookUp)) {
    const found = await find();
    if (found === undefined) return undefined;
    cas.push(found);
  }
  return union(...cas, ...(await readTrustedCas(ports, spec))) as Ca;
}

function sources(
  ports: Ports,
  spec: EtcdSpec,
  ca: string | undefined,
  lookUp: (ref: IssuerRef) => Promise<string | undefined>,
): (() => Promise<string | undefined>)[] {
  if (!spec.tls) return [];
  switch (certificateSource(spec.tls)) {
    case "ca":
      return [async () => ca];
    case "secrets":
      return [() => givenCas(ports, spec)];
    case "issuer":
      return issuersOf(spec).map((ref) => () => lookUp(ref));
  }
}

/** The subject that a CA of one's own will have, as a plan shows it. */
export function subjectOf({ commonName, subject }: CaSpec): string {
  const parts: [string, string[] | string | undefined][] = [
    ["C", subject.countries],
    ["O", subject.organizations],
    ["OU", subject.organizationalUnits],
    ["L", subject.localities],
    ["ST", subject.provinces],
    ["street", subject.streetAddresses],
    ["postalCode", subject.postalCodes],
    ["CN", commonName],
    ["serialNumber", subject.serialNumber],
  ];
  const lines = parts.flatMap(([name, values]) => [values ?? []].flat().map((value) => `${name}=${value}`));
  return inOneLine(lines.join("\n"));
}
