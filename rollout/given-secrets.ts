import type { X509Certificate } from "node:crypto";
import { certificateName, clientServiceName, memberHost } from "../config/names";
import type { Alias, ConfigProblem, EtcdSpec } from "../config/types";
import { labels } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { readBundle, readTrustedCas } from "./bundle";
import { checkMaterial, purposesIn } from "./certificates";
import { chainFault, type Purpose, purposesOf } from "./chain";
import { type LeafSecret, writeLeaf } from "./leaf-secret";
import type { Ports, SecretMaterial } from "./ports";
import { unservableKey } from "./served-key";
import { FatalError } from "./wait";
import { certificatesOf, matchesKey } from "./x509";

/** Extended key usages (RFC 5280, 4.2.1.12). */
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

const LAYOUT = "tls.crt, tls.key and ca.crt, the layout of cert-manager's Secrets";

/** The Secrets that somebody else maintains, by the alias of their certificate. */
function given(spec: EtcdSpec): { alias: Alias; secretName: string }[] {
  const entries = Object.entries(spec.tls?.secrets ?? {}) as [Alias, string][];
  return entries.map(([alias, secretName]) => ({ alias, secretName }));
}

/** What is wrong with the Secrets that the spec names; every problem at once. */
export async function checkGivenSecrets(ports: Ports, spec: EtcdSpec): Promise<ConfigProblem[]> {
  const trusted = (await readTrustedCas(ports, spec)).join("\n");
  const found = await Promise.all(
    given(spec).map(async ({ alias, secretName }) => {
      const material = await ports.kube.secretMaterial(spec.namespace, secretName);
      const ours = isOurs(await ports.kube.get("v1", "Secret", spec.namespace, secretName), spec);
      const wrong = ours ? OURS : wrongWith(material, alias, spec, trusted, ports.clock.now());
      if (!wrong) return [];
      const label = `Secret ${spec.namespace}/${secretName}`;
      return [{ path: `etcd:tls.secrets.${alias}`, value: secretName, rule: `${label} ${wrong[0]}`, mend: wrong[1] }];
    }),
  );
  return found.flat();
}

type Wrong = [rule: string, mend: string];

const OURS: Wrong = [
  "is one that this stack makes itself, and goes together with the source of certificates that it is of",
  "Name one that somebody else maintains; a copy under another name would do",
];

function isOurs(secret: KubeObject | undefined, cluster: EtcdSpec): boolean {
  const { "app.kubernetes.io/component": _, ...common } = labels(cluster, "certificate");
  return Object.entries(common).every(([label, value]) => secret?.metadata.labels?.[label] === value);
}

function wrongWith(
  material: SecretMaterial | undefined,
  alias: Alias,
  spec: EtcdSpec,
  trusted: string,
  now: number,
): Wrong | undefined {
  if (!material) return ["does not exist, or has no tls.crt and tls.key", `Make it with ${LAYOUT}`];
  const [leaf] = certificatesOf(material.certificate);
  if (!leaf) return ["has no certificate in tls.crt", `Make it with ${LAYOUT}`];
  if (!matchesKey(material.certificate, material.key))
    return ["holds a key that does not belong to its certificate", "Write both from one issue"];
  if (Date.parse(leaf.validTo) < now) return [`holds a certificate that expired on ${leaf.validTo}`, "Renew it first"];
  if (Date.parse(leaf.validFrom) > now)
    return [`holds a certificate that is not valid before ${leaf.validFrom}`, "Wait until then, or issue another"];
  const lacks = lackingNames(leaf, alias, spec);
  if (lacks.length > 0)
    return [`holds a certificate that does not name ${lacks.join(", ")}`, "Issue it with these DNS names"];
  const copy = spec.tls?.certificates.find((certificate) => certificate.alias === alias);
  const unservable = copy && unservableKey(spec, copy, material.certificate);
  if (unservable) return [`holds a certificate that ${unservable}`, "Issue it with such a key, or choose other suites"];
  const purposes = copy ? purposesIn(spec, copy) : purposesOf(alias);
  return lackingUsage(leaf, alias) ?? untrusted(material, trusted, now, purposes);
}

/**
 * Names that clients and peers verify. For clients a wildcard covers the members. A member that is dialled compares the
 * dialler's address with its certificate: a wildcard only with the address's own name, which DNS may not know for half a
 * minute after a restart, exact names with what they resolve to as well. Hence each name for peers.
 */
function lackingNames(leaf: X509Certificate, alias: Alias, spec: EtcdSpec): string[] {
  const members = Array.from({ length: spec.replicas }, (_, ordinal) => memberHost(spec, ordinal));
  const service = `${clientServiceName(spec)}.${spec.namespace}.svc.${spec.clusterDomain}`;
  const exact = new Set(leaf.subjectAltName?.split(", "));
  if (alias === "peer") return members.filter((name) => !exact.has(`DNS:${name}`));
  if (alias !== "server") return [];
  return [...members, service].filter((name) => leaf.checkHost(name, { subject: "never" }) === undefined);
}

/** Members dial each other and, for the gateway, themselves. A certificate without the extension is good for all. */
function lackingUsage(leaf: X509Certificate, alias: Alias): Wrong | undefined {
  const usages = leaf.keyUsage as string[] | undefined;
  const needed = alias === "server" || alias === "peer" ? [SERVER_AUTH, CLIENT_AUTH] : [CLIENT_AUTH];
  const names: Record<string, string> = { [SERVER_AUTH]: "server auth", [CLIENT_AUTH]: "client auth" };
  const lacking = needed.filter((usage) => usages !== undefined && !usages.includes(usage));
  if (lacking.length === 0) return undefined;
  const words = lacking.map((usage) => names[usage]).join(" and ");
  return [
    `holds a certificate without the extended key usage ${words}`,
    "Issue it with both server auth and client auth",
  ];
}

function untrusted(material: SecretMaterial, trusted: string, now: number, purposes: Purpose[]): Wrong | undefined {
  const fault = chainFault(material.certificate, `${caOf(material)}\n${trusted}`, { now, purposes });
  if (!fault) return undefined;
  if (fault.unknown) {
    return [
      `holds a certificate that chains neither to its own ca.crt nor to etcd:tls.trustedCAs: ${fault.why}`,
      "Write the CA that signed it into ca.crt, or name that in etcd:tls.trustedCAs",
    ];
  }
  return [
    `holds a certificate whose chain etcd refuses: ${fault.why}`,
    "Make that certificate anew as RFC 5280 asks, and write it into tls.crt (intermediates) or ca.crt (the CA)",
  ];
}

/** The CA that comes with a leaf: `ca.crt`, else whatever in its chain has signed itself. */
function caOf(material: SecretMaterial): string {
  if (certificatesOf(material.ca ?? "").length > 0) return material.ca!;
  const anchors = certificatesOf(material.certificate).slice(1);
  return anchors
    .filter((certificate) => certificate.checkIssued(certificate))
    .map((certificate) => certificate.toString())
    .join("\n");
}

/** The CAs that come with the Secrets, PEM. Throws `FatalError` where one is missing. */
export async function givenCas(ports: Ports, spec: EtcdSpec): Promise<string> {
  const cas = await Promise.all(given(spec).map(async ({ alias }) => caOf(await readGiven(ports, spec, alias))));
  return cas.join("\n");
}

/** What a Secret that somebody else maintains holds now. */
export async function readGiven(ports: Ports, spec: EtcdSpec, alias: Alias): Promise<SecretMaterial> {
  const secretName = spec.tls?.secrets?.[alias];
  const material = secretName && (await ports.kube.secretMaterial(spec.namespace, secretName));
  if (material) return material;
  throw new FatalError(`etcd:tls.secrets.${alias}: Secret ${spec.namespace}/${secretName} does not exist`);
}

/** The copy that members and clients mount, as it should be now. */
export async function wantedCopy(ports: Ports, spec: EtcdSpec, alias: Alias): Promise<LeafSecret> {
  const copy = spec.tls?.certificates.find((certificate) => certificate.alias === alias);
  if (!copy) throw new FatalError(`${spec.name}: there is no ${alias} certificate to copy`);
  const material = await readGiven(ports, spec, alias);
  return {
    secretName: copy.secretName,
    madeFor: certificateName(spec, alias),
    material: { ...material, ca: caOf(material) },
  };
}

/**
 * Brings a copy up to date. A leaf that the members do not trust yet is not copied: the Secret has changed since the
 * trust was widened, and the next update begins with that.
 */
export async function copyGiven(ports: Ports, spec: EtcdSpec, alias: Alias): Promise<LeafSecret> {
  const bundle = (await readBundle(ports, spec)) ?? "";
  const leaf = await wantedCopy(ports, spec, alias);
  const asked = spec.tls!.certificates.find((certificate) => certificate.alias === alias)!;
  const wrong = checkMaterial(leaf.material, asked, bundle, ports.clock.now(), purposesIn(spec, asked));
  if (wrong) {
    throw new FatalError(
      `Secret ${spec.namespace}/${spec.tls?.secrets?.[alias]} was not copied: ${wrong}. If it has changed just now, run the update again`,
    );
  }
  await writeLeaf(ports, spec, leaf);
  return leaf;
}
