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

/** What is in the Secret of a certificate, decoded. */
export async function readSecret(scenario: Scenario, alias: Alias): Promise<Record<string, string> | undefined> {
  const { kube, namespace, source } = scenario;
  const name = await secretNameOf(scenario, alias, source);
  const data = name && ((await kube.get("v1", "Secret", name, namespace))?.data as Record<string, string> | undefined);
  return data ? decoded(data) : undefined;
}

/** cert-manager's Certificates name their Secrets; the others are called as they are by default. */
async function secretNameOf({ kube, namespace }: Scenario, alias: Alias, source: Source): Promise<string | undefined> {
  if (source !== "issuer") return leafSecret(alias, source);
  const certificate = await kube.get("cert-manager.io/v1", "Certificate", `${CLUSTER}-${alias}-cert`, namespace);
  return (certificate?.spec as { secretName: string } | undefined)?.secretName;
}

/** Where certificates come from: an issuer of cert-manager, a CA of the cluster's own, Secrets of somebody else. */
export type Source = "issuer" | "ca" | "secrets";

const SUFFIX: Record<Source, string> = { issuer: "cert", ca: "own-cert", secrets: "copied-cert" };

/** The Secret that members and clients mount, where the settings name no other. */
export function leafSecret(alias: Alias, source: Source): string {
  return `${CLUSTER}-${alias}-${SUFFIX[source]}`;
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
