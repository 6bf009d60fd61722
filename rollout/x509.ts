import { createPrivateKey, X509Certificate } from "node:crypto";
import { type CertificateProfile, profileOf } from "./certificate-profile";

/** Every certificate of a PEM text, in its order. */
export function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/**
 * Whether a leaf, with the intermediates that come after it in its own PEM, leads to a certificate of the bundle by
 * valid signatures. Whether members accept it, too, is what `chainFault` says.
 */
export function chainsTo(chainPem: string, bundlePem: string): boolean {
  const [leaf, ...intermediates] = certificatesOf(chainPem);
  const anchors = certificatesOf(bundlePem);
  const seen = new Set<string>();
  for (let current = leaf; current && !seen.has(current.fingerprint256); ) {
    const certificate = current;
    seen.add(certificate.fingerprint256);
    if (anchors.some((anchor) => anchor.fingerprint256 === certificate.fingerprint256 || issued(anchor, certificate))) {
      return true;
    }
    current = intermediates.find((candidate) => issued(candidate, certificate));
  }
  return false;
}

/** The subject alternative names of the first certificate of a PEM text, such as `DNS:db.data.svc`. */
export function subjectAltNames(chainPem: string): string[] {
  return certificatesOf(chainPem)[0]?.subjectAltName?.split(", ") ?? [];
}

/** Whether the first certificate of a PEM text belongs to a private key. */
export function matchesKey(chainPem: string, keyPem: string): boolean {
  return certificatesOf(chainPem)[0]?.checkPrivateKey(createPrivateKey(keyPem)) === true;
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && isSignedBy(issuer, certificate);
}

/** Whether a certificate's signature was made with the key of another, whatever that may sign. */
export function isSignedBy(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // A key of a kind that does not go with the signature's algorithm, or one that OpenSSL does not know.
    return false;
  }
}

/** The fields that a chain is judged by. */
export function readProfile(certificate: X509Certificate): CertificateProfile {
  return profileOf(certificate);
}
