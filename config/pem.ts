import { X509Certificate } from "node:crypto";

const BEGIN = "-----BEGIN CERTIFICATE-----";
const BLOCK = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]*-----END CERTIFICATE-----/g;

/** Whether a value, at any depth, has a private key in it. */
export function holdsPrivateKey(value: unknown): boolean {
  return /PRIVATE KEY-----/.test(JSON.stringify(value) ?? "");
}

export function holdsCertificate(pem: string): boolean {
  return pem.includes(BEGIN);
}

/** Whether every certificate in the text can be read. */
export function isReadable(pem: string): boolean {
  try {
    return parse(pem).length === pem.split(BEGIN).length - 1;
  } catch {
    return false;
  }
}

/** The certificates of the text in its order, each in one spelling, without comments. */
export function canonicalCertificates(pem: string): string {
  return parse(pem)
    .map((certificate) => certificate.toString())
    .join("");
}

function parse(pem: string): X509Certificate[] {
  return (pem.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
}
