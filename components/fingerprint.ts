import { createHash } from "node:crypto";

/** What a leaf is known by from one update to the next: nothing that would have to be kept secret. */
export function fingerprint(certificate: string): string {
  return createHash("sha256").update(certificate.trim()).digest("hex").slice(0, 16);
}
