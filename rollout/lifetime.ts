import { certificateName } from "../config/names";
import type { CertificateSpec, EtcdSpec } from "../config/types";
import { newestRequests } from "./certificate-status";
import type { Ports, SecretMaterial } from "./ports";
import { certificatesOf } from "./x509";

/** cert-manager's default where a Certificate names no duration. */
const DEFAULT_DURATION_SECONDS = 90 * 24 * 3600;

/** Issuers date certificates back, and round. */
const TOLERANCE_SECONDS = 600;

/**
 * Says that a leaf was made for another duration than the spec asks for now, as after an edit that cert-manager does not
 * act on; `undefined` if it was not. Issuers cut and raise lifetimes: what they gave for the asked duration they would
 * give again, so that a leaf is judged by what was asked for it, and is left alone where nobody knows that any more.
 */
export async function lifetimeFault(
  ports: Ports,
  spec: EtcdSpec,
  asked: CertificateSpec,
  { certificate }: SecretMaterial,
): Promise<string | undefined> {
  const [leaf] = certificatesOf(certificate);
  if (!leaf) return undefined;
  const lifetime = (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 1000;
  const wanted = durationSeconds(asked.duration);
  if (Math.abs(lifetime - wanted) <= TOLERANCE_SECONDS) return undefined;
  const requests = await newestRequests(ports, spec.namespace, certificateName(spec, asked.alias));
  const issued = requests.find(({ status }) =>
    status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
  );
  if (!issued || requestedSeconds(issued.spec) === wanted) return undefined;
  return `it was made for ${Math.round(lifetime / 3600)} h`;
}

function requestedSeconds(request: unknown): number {
  return durationSeconds((request as { duration?: string } | undefined)?.duration);
}

function durationSeconds(text: string | undefined): number {
  return goDurationSeconds(text) ?? DEFAULT_DURATION_SECONDS;
}

/** `2160h0m0s` in seconds. */
export function goDurationSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  return [...text.matchAll(/([\d.]+)(ms|h|m|s)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * units[unit!]!, 0);
}
