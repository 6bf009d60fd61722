/** Formats of other projects, checked the way those projects check them. Pure predicates and conversions. */

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_LABEL_LETTER_FIRST = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUANTITY = /^\+?(\d+\.?\d*|\.\d+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][-+]?\d+)?$/;
const GO_DURATION = /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/;
const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

/** RFC 1123 label: what a namespace is called. */
export function isDnsLabel(text: string): boolean {
  return DNS_LABEL.test(text);
}

/** RFC 1035 label: what a Service is called. */
export function isServiceName(text: string): boolean {
  return text.length <= 63 && DNS_LABEL_LETTER_FIRST.test(text);
}

/** RFC 1123 subdomain: what a Secret, an issuer or a StorageClass is called. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split(".").every(isDnsLabel);
}

/** A DNS name as a certificate may carry it: lower case, and at most its first label a wildcard. */
export function isCertificateDnsName(text: string): boolean {
  return isDnsSubdomain(text.replace(/^\*\./, "").replaceAll("_", "-"));
}

/** An IP address in one spelling, or undefined where it is none. */
export function canonicalIp(text: string): string | undefined {
  if (IPV4.test(text)) return text;
  if (!/^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text)) return undefined;
  return URL.canParse(`http://[${text}]/`) ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : undefined;
}

/** An absolute URI, such as `spiffe://cluster.local/ns/etcd`. */
export function isUri(text: string): boolean {
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:[^\s]+$/.test(text) && URL.canParse(text);
}

export function isEmail(text: string): boolean {
  return /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+$/.test(text) && !/^\.|\.\.|\.@/.test(text);
}

/** Kubernetes quantity, such as `500m` or `8Gi`: how many units it is, or undefined where it is no quantity. */
export function quantityValue(text: string): number | undefined {
  const parts = QUANTITY.exec(text);
  if (!parts) return undefined;
  const suffix = parts[2] ?? "";
  const power = suffix.endsWith("i") ? 1024 ** ("KMGTPE".indexOf(suffix[0]!) + 1) : decimalFactor(suffix);
  return Number(parts[1]) * power;
}

function decimalFactor(suffix: string): number {
  if (suffix === "") return 1;
  if (suffix === "m") return 1e-3;
  const prefix = "kMGTPE".indexOf(suffix);
  return prefix >= 0 ? 1000 ** (prefix + 1) : Number(`1${suffix}`);
}

const SECONDS: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Go duration, such as `2160h` or `1h30m`, in seconds; undefined where it is none. There is no unit for days. */
export function durationSeconds(text: string): number | undefined {
  if (!GO_DURATION.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g);
  return [...parts].reduce((sum, part) => sum + Number(part[1]) * SECONDS[part[2]!]!, 0);
}

/** Major, minor and patch of a plain semantic version; undefined where it is none. */
export function semver(text: string): [number, number, number] | undefined {
  const parts = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$/.exec(text);
  return parts ? [Number(parts[1]), Number(parts[2]), Number(parts[3])] : undefined;
}

/** Negative, zero or positive, as `left` is older than, the same as or newer than `right`. */
export function compareVersions(left: readonly number[], right: readonly number[]): number {
  const index = left.findIndex((part, i) => part !== right[i]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}
