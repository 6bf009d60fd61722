import { X509Certificate } from "node:crypto";
import { CLUSTER, type Scenario } from "./scenario";

export const ALIASES = ["server", "peer", "client"] as const;
export type Alias = (typeof ALIASES)[number];

/** Serial numbers of the leaves that are in the Secrets of the Certificates now; none without TLS. */
export type Serials = Partial<Record<Alias, string>>;

export async function readSerials(scenario: Scenario): Promise<Serials> {
  const found = await Promise.all(
    ALIASES.map(async (alias) => {
      const leaf = await readLeaf(scenario, alias);
      return leaf ? ([[alias, normalSerial(leaf.serialNumber)]] as const) : [];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** The leaf that is in the Secret of a Certificate. */
export async function readLeaf(scenario: Scenario, alias: Alias): Promise<X509Certificate | undefined> {
  const pem = (await readSecret(scenario, alias))?.["tls.crt"];
  return pem ? new X509Certificate(pem) : undefined;
}

/** What is in the Secret of a Certificate, decoded. */
export async function readSecret(
  { kube, namespace }: Scenario,
  alias: Alias,
): Promise<Record<string, string> | undefined> {
  const certificate = await kube.get("cert-manager.io/v1", "Certificate", `${CLUSTER}-${alias}-cert`, namespace);
  if (!certificate) return undefined;
  const { secretName } = certificate.spec as { secretName: string };
  const data = (await kube.get("v1", "Secret", secretName, namespace))?.data as Record<string, string> | undefined;
  return data && decoded(data);
}

export function decoded(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

/** Fingerprints of the CAs in the trust bundle, under each of its keys; none without TLS. */
export async function readTrust({ kube, namespace }: Scenario): Promise<string[][]> {
  const bundle = await kube.get("v1", "ConfigMap", `${CLUSTER}-trust-bundle`, namespace);
  return Object.values((bundle?.data ?? {}) as Record<string, string>).map(fingerprints);
}

/** Fingerprints of the certificates of a PEM text, sorted. */
export function fingerprints(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(blocks.map((block) => new X509Certificate(block).fingerprint256))].sort();
}

/** One spelling: some print a leading zero. */
export function normalSerial(serial: string): string {
  return serial.toUpperCase().replace(/^0+(?=.)/, "");
}
