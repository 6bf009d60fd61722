import { createHash } from "node:crypto";
import type { EtcdSpec } from "./types";

/** Another value restarts the members; undefined where no restart is ever asked for. */
export function restartToken({ rollout, tls }: EtcdSpec): string | undefined {
  const withCertificates = tls?.restartPolicy === "Always" ? tls : undefined;
  if (rollout.restart === undefined && !withCertificates) return undefined;
  const { rotate, issuerRef, ca, secrets, certificates } = withCertificates ?? {};
  const source = issuerRef ?? ca ?? secrets;
  const reasons = [rollout.restart ?? null, withCertificates ? [rotate ?? null, source, certificates] : null];
  return createHash("sha256").update(JSON.stringify(reasons)).digest("hex").slice(0, 12);
}
