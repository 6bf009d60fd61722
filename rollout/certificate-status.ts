import type { KubeObject } from "../manifests/types";
import type { LiveIssuer, Ports } from "./ports";
import { FatalError } from "./wait";

export const CERT_MANAGER = "cert-manager.io/v1";

export const NOT_BEGUN = "cert-manager has not begun (is it running?)";

export interface CertificateCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

/** A cert-manager Certificate or CertificateRequest, as far as its progress goes. */
export interface CertificateObject extends KubeObject {
  status?: {
    revision?: number;
    conditions?: CertificateCondition[];
    lastFailureTime?: string;
    failedIssuanceAttempts?: number;
  };
}

function condition({ status }: CertificateObject, type: string): CertificateCondition | undefined {
  return status?.conditions?.find((candidate) => candidate.type === type);
}

/** Whether the last issue failed: cert-manager then waits an hour and more before it tries again. */
export function hasFailed(object: CertificateObject): boolean {
  return condition(object, "Issuing")?.status === "False";
}

/** Tells one failed issue from another: cert-manager keeps what it says of the last one while it tries again. */
export function failureMark({ status }: CertificateObject): string {
  return `${status?.lastFailureTime ?? ""} ${status?.failedIssuanceAttempts ?? ""}`;
}

/** Of a Certificate that did not fail yet. */
export const NO_FAILURE = failureMark({} as CertificateObject);

/**
 * Ends a wait that cannot succeed: the issue that is awaited was denied, or failed, and cert-manager waits for an hour
 * and more now. `before`: the mark of the failure that was there when the wait began.
 */
export async function endIfFailed(ports: Ports, object: CertificateObject, before: string): Promise<void> {
  if (!hasFailed(object) || failureMark(object) === before) return;
  const { namespace = "", name } = object.metadata;
  const why = await explain(ports, namespace, name, notIssued(object) ?? "could not be issued");
  throw new FatalError(`Certificate ${namespace}/${name} ${why}`);
}

/** Why a Certificate is not issued, or not for its newest version; `undefined` if it is. */
export function notIssued({ status, metadata }: CertificateObject): string | undefined {
  const conditions = status?.conditions ?? [];
  const { generation = 0 } = metadata as { generation?: number };
  const issuing = conditions.find((condition) => condition.type === "Issuing");
  if (issuing?.status === "True") return `being issued (${issuing.message ?? issuing.reason})`;
  if (issuing?.status === "False") {
    return `could not be issued: ${issuing.message ?? issuing.reason}${nextRetry(status?.lastFailureTime, status?.failedIssuanceAttempts)}`;
  }
  const ready = conditions.find((condition) => condition.type === "Ready");
  if (!ready) return "cert-manager has not looked at it yet (is it running?)";
  if ((ready.observedGeneration ?? 0) < generation) return "cert-manager has not seen its newest version yet";
  return ready.status === "True" ? undefined : (ready.message ?? ready.reason ?? "not Ready");
}

/**
 * cert-manager tells why in the newest CertificateRequest: denied, invalid, failed, or an issuer that is not there.
 * `after`: the revision that is to be replaced; requests up to it have had their answer.
 */
export async function explain(
  ports: Ports,
  namespace: string,
  name: string,
  reason: string,
  after?: number,
): Promise<string> {
  const requests = await newestRequests(ports, namespace, name);
  const newest = requests.find((request) => after === undefined || revisionOf(request) > after);
  if (!newest && after !== undefined) return `${reason}; ${NOT_BEGUN}`;
  const told = (newest?.status?.conditions ?? []).filter(
    (condition) => condition.message && !(condition.type === "Approved" && condition.status === "True"),
  );
  const words = told.map((condition) => `${condition.reason ?? condition.type}: ${condition.message}`);
  return [reason, ...words, ...(await issuerTrouble(ports, namespace, newest))].join("; ");
}

/** The requests that cert-manager has kept of a Certificate, newest first. */
export async function newestRequests(ports: Ports, namespace: string, name: string): Promise<CertificateObject[]> {
  const requests: CertificateObject[] = await ports.kube.list(CERT_MANAGER, "CertificateRequest", namespace);
  return requests
    .filter(({ metadata }) => metadata.annotations?.["cert-manager.io/certificate-name"] === name)
    .sort((a, b) => revisionOf(b) - revisionOf(a));
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.["cert-manager.io/certificate-revision"] ?? 0);
}

/** cert-manager says of a request that waits that its issuer is not Ready, and not which one that is, nor why. */
async function issuerTrouble(ports: Ports, namespace: string, request: KubeObject | undefined): Promise<string[]> {
  const { kind, name, group } = (request?.spec as { issuerRef?: RequestedIssuer } | undefined)?.issuerRef ?? {};
  if (!name || !kind) return [];
  const issuer = await ports.kube.issuer(kind, namespace, name, group ?? "cert-manager.io").catch(() => undefined);
  if (!issuer || issuer.ready) return [];
  return [notReady(`${kind} ${name}`, issuer)];
}

/** An issuer that cannot issue now, in its own words. */
export function notReady(label: string, { message }: Pick<LiveIssuer, "message">): string {
  return `${label} is not Ready${message ? `: ${message}` : ""}`;
}

interface RequestedIssuer {
  kind?: string;
  name?: string;
  group?: string;
}

/** cert-manager doubles its pause from one hour to 32. */
function nextRetry(failedAt: string | undefined, attempts = 1): string {
  if (!failedAt) return "";
  const pause = Math.min(2 ** Math.max(attempts - 1, 0), 32) * 3_600_000;
  const next = new Date(Date.parse(failedAt) + pause).toISOString();
  return `; cert-manager tries again at ${next}, an update tries at once`;
}
