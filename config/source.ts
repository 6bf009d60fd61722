import type { CertificateSource, CertificateSpec, TlsSpec } from "./types";

/** Where a cluster's certificates come from. */
export function certificateSource(tls: Pick<TlsSpec, "issuerRef" | "ca" | "secrets">): CertificateSource {
  if (tls.ca) return "ca";
  return tls.secrets ? "secrets" : "issuer";
}

/** The certificates that are made; the others are one of these under another alias. */
export function ownCertificates(tls: Pick<TlsSpec, "certificates"> | undefined): CertificateSpec[] {
  return (tls?.certificates ?? []).filter(({ sameAs }) => sameAs === undefined);
}
