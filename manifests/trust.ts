import { createHash } from "node:crypto";

/**
 * Short name of a set of CA certificates.
 *
 * The order, repetitions, line lengths and comments of the PEM don't matter: they don't change who is trusted.
 * Throws where there is no certificate in it: etcd starts with such a file and then refuses everybody.
 */
export function trustRevision(pem: string): string {
  return sha256(trustedCertificates(pem).join("\n")).slice(0, 12);
}

/**
 * Key of the trust bundle's ConfigMap under which members of a revision find their CAs. Named by content, so that what
 * a member read when it started is what it reads when its container restarts, whatever the bundle has become since.
 */
export function memberBundleKey(revision: string): string {
  return `members-${revision}.crt`;
}

/** The same set of certificates, each once, in a fixed order. */
export function normalizeTrust(pem: string): string {
  return trustedCertificates(pem).map(encodeCertificate).join("");
}

/** The certificates' DER in base64, each once, ordered by digest. */
function trustedCertificates(pem: string): string[] {
  const blocks = pem.matchAll(/-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]*)-----END CERTIFICATE-----/g);
  const bodies = new Set([...blocks].map((block) => block[1]!.replace(/\s+/g, "")).filter((body) => body !== ""));
  if (bodies.size === 0)
    throw new Error("the trust bundle has no certificate in it: every peer and client would be refused");
  return [...bodies].sort((a, b) => (sha256(a) < sha256(b) ? -1 : 1));
}

function encodeCertificate(base64: string): string {
  const lines = base64.match(/.{1,64}/g)!.join("\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
