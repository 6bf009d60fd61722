import { trustBundleName } from "../config/names";
import type { EtcdSpec, TrustedCa } from "../config/types";
import {
  memberBundleKey,
  normalizeTrust,
  renderTrustBundle,
  TRUST_BUNDLE_KEY,
  TRUST_REVISION,
  trustRevision,
} from "../manifests";
import type { Ports } from "./ports";
import { FatalError } from "./wait";
import { certificatesOf } from "./x509";

/** The trust bundle of a cluster as it is in the cluster now, PEM. */
export async function readBundle(
  ports: Ports,
  spec: Pick<EtcdSpec, "name" | "namespace">,
): Promise<string | undefined> {
  return (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"];
}

/** Writes the bundle; revisions that some member may be started with are kept beside it until `pruneBundle`. */
export async function writeBundle(
  ports: Ports,
  spec: Pick<EtcdSpec, "name" | "namespace">,
  pem: string,
): Promise<void> {
  const data = await ports.kube.configMapData(spec.namespace, trustBundleName(spec));
  const earlier = Object.entries(data ?? {}).filter(([key]) => key !== TRUST_BUNDLE_KEY);
  await ports.kube.apply(renderTrustBundle(spec, pem, Object.fromEntries(earlier)));
}

/** Takes away the revisions that no member is started with any more: every member runs the newest. */
export async function pruneBundle(ports: Ports, spec: Pick<EtcdSpec, "name" | "namespace">): Promise<void> {
  const data = await ports.kube.configMapData(spec.namespace, trustBundleName(spec));
  const pem = data?.[TRUST_BUNDLE_KEY];
  if (!pem || Object.keys(data).length <= 2) return;
  await ports.kube.apply(renderTrustBundle(spec, pem));
}

/** The union of bundles, in one order whatever the order of its parts. */
export function union(...bundles: (string | undefined)[]): string {
  return normalizeTrust(bundles.filter((bundle) => bundle !== undefined).join("\n"));
}

/** As `union`, of whatever is known; `undefined` if there is no certificate in any of it. */
export function unionOfKnown(...bundles: (string | undefined)[]): string | undefined {
  const known = bundles.filter((bundle) => bundle?.includes("BEGIN CERTIFICATE"));
  return known.length > 0 ? union(...known) : undefined;
}

export function sameTrust(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return trustRevision(a) === trustRevision(b);
}

/** The subjects of the certificates that are in `bundle` and not in `other`, for the user's eyes. */
export function subjectsBeyond(bundle: string, other: string | undefined): string[] {
  const known = new Set(certificatesOf(other ?? "").map((certificate) => certificate.fingerprint256));
  return certificatesOf(bundle)
    .filter((certificate) => !known.has(certificate.fingerprint256))
    .map(({ subject }) => inOneLine(subject));
}

/** The lines of a plan that tell what comes into a bundle. */
export function addSteps(bundle: string, live: string | undefined): string[] {
  return sameTrust(live, bundle) ? [] : subjectsBeyond(bundle, live).map(addStep);
}

export function addStep(subject: string): string {
  return `trust bundle: add ${subject}`;
}

/** What a pod of these annotations was started with, of the ConfigMap's `data`; `undefined` if that is not known. */
export function startedBundle(
  data: Record<string, string> | undefined,
  annotations: Record<string, string>,
): string | undefined {
  return data?.[memberBundleKey(annotations[TRUST_REVISION] ?? "")];
}

/** In which order a plan shows the parts of a subject. That of a certificate depends on who made it, and with what. */
const SUBJECT_ORDER = ["C", "ST", "L", "street", "postalCode", "O", "OU", "CN", "serialNumber"];

/** A subject as Node prints it, `C=US\nCN=etcd CA`, for a line of a plan. */
export function inOneLine(subject: string): string {
  const rank = (part: string) => {
    const found = SUBJECT_ORDER.indexOf(part.split("=", 1)[0] ?? "");
    return found < 0 ? SUBJECT_ORDER.length : found;
  };
  return (
    subject
      .split("\n")
      .sort((a, b) => rank(a) - rank(b))
      // RFC 2253 has these characters escaped.
      .map((part) => part.replace(/\\([ #,+"\\<>;])/g, "$1"))
      .join(", ")
  );
}

/** Resolves `tls.trustedCAs`. An object that is not there, or holds no certificate, is an error. */
export async function readTrustedCas(ports: Ports, spec: EtcdSpec): Promise<string[]> {
  return Promise.all((spec.tls?.trustedCAs ?? []).map((ca, index) => readTrustedCa(ports, spec.namespace, ca, index)));
}

async function readTrustedCa(ports: Ports, namespace: string, ca: TrustedCa, index: number): Promise<string> {
  if ("pem" in ca) return ca.pem;
  const [kind, ref] = "configMap" in ca ? (["ConfigMap", ca.configMap] as const) : (["Secret", ca.secret] as const);
  const object = await ports.kube.get("v1", kind, namespace, ref.name);
  const value = (object?.data as Record<string, string> | undefined)?.[ref.key];
  const pem = kind === "Secret" && value ? Buffer.from(value, "base64").toString() : value;
  if (pem?.includes("BEGIN CERTIFICATE")) return pem;
  throw new FatalError(
    `etcd:tls.trustedCAs[${index}]: ${kind} ${namespace}/${ref.name} ${object ? `has no certificate under the key ${ref.key}` : "does not exist"}. Mend it, or take the entry away`,
  );
}
