import type { X509Certificate } from "node:crypto";
import type { Alias } from "../config/types";
import { inOneLine } from "./bundle";
import { refusedName } from "./name-constraints";
import { certificatesOf, isSignedBy, readProfile } from "./x509";

/** What a leaf is shown for (RFC 5280, 4.2.1.12). */
export type Purpose = "server auth" | "client auth";

export interface ChainTerms {
  now: number;
  /** Every one of them has to hold along the chain. */
  purposes: Purpose[];
}

/** Why a chain is refused, in words. `unknown`: no trusted CA has signed it at all. */
export interface ChainFault {
  unknown: boolean;
  why: string;
}

const PURPOSES: Record<Purpose, string> = { "server auth": "1.3.6.1.5.5.7.3.1", "client auth": "1.3.6.1.5.5.7.3.2" };
const ANY_PURPOSE = "2.5.29.37.0";

/** Signatures that Go does not accept: MD2, MD5 and SHA-1 with RSA, DSA, SHA-1 with ECDSA. */
const WEAK = [
  "1.2.840.113549.1.1.2",
  "1.2.840.113549.1.1.4",
  "1.2.840.113549.1.1.5",
  "1.3.14.3.2.29",
  "1.2.840.10040.4.3",
  "2.16.840.1.101.3.4.3.2",
  "1.2.840.10045.4.1",
];

/** Peers dial each other under one certificate, and accept each other by it. */
const SHOWN_FOR: Record<Alias, Purpose[]> = {
  server: ["server auth"],
  peer: ["server auth", "client auth"],
  client: ["client auth"],
  "metrics-exporter": ["client auth"],
};

export function purposesOf(...aliases: Alias[]): Purpose[] {
  return [...new Set(aliases.flatMap((alias) => SHOWN_FOR[alias]))];
}

/**
 * What a member, or a client in Go, has against a leaf that comes with its intermediates, where it trusts `anchors`;
 * `undefined` if nothing. The rules are those of `Certificate.Verify` of Go's crypto/x509: for every certificate its
 * validity now and its critical extensions, above the leaf CA:TRUE, keyCertSign, the path length and name constraints,
 * and purposes that every certificate with an ExtKeyUsage leaves. Certificate policies and revocation are not looked at.
 */
export function chainFault(chainPem: string, anchorsPem: string, terms: ChainTerms): ChainFault | undefined {
  const [leaf, ...intermediates] = certificatesOf(chainPem);
  if (!leaf) return { unknown: true, why: "there is no certificate" };
  const wrong = notItself(leaf, terms.now);
  if (wrong) return invalid(leaf, wrong);
  const anchors = certificatesOf(anchorsPem);
  if (anchors.some((anchor) => same(anchor, leaf))) return wholeFault([leaf], terms);
  return search([leaf], { intermediates, anchors }, terms);
}

/** A certificate for the user's eyes: its subject, and what tells it from others of that subject. */
export function nameOf({ subject, serialNumber, fingerprint256 }: X509Certificate): string {
  return `${inOneLine(subject)} (serial ${serialNumber}, SHA-256 ${fingerprint256.slice(0, 11)}...)`;
}

interface Candidates {
  intermediates: X509Certificate[];
  anchors: X509Certificate[];
}

/** Tries every way up, anchors first; the first fault of the first way is told. */
function search(chain: X509Certificate[], candidates: Candidates, terms: ChainTerms): ChainFault | undefined {
  const current = chain.at(-1)!;
  let fault: ChainFault | undefined;
  for (const isAnchor of [true, false]) {
    for (const parent of candidates[isAnchor ? "anchors" : "intermediates"]) {
      if (chain.some((each) => same(each, parent)) || !isNamedAsIssuer(parent, current)) continue;
      // Another key under the same name is no fault of the chain.
      if (!isSignedBy(parent, current)) continue;
      const wrong = notAsParent(parent, chain, terms.now);
      const longer = [...chain, parent];
      const found = wrong ?? (isAnchor ? wholeFault(longer, terms) : search(longer, candidates, terms));
      if (!found) return undefined;
      if (!fault || (fault.unknown && !found.unknown)) fault = found;
    }
  }
  return fault ?? { unknown: true, why: `${nameOf(current)} is signed by ${unknownIssuer(current)}` };
}

function unknownIssuer({ issuer }: X509Certificate): string {
  return `${inOneLine(issuer)}, and neither a trusted CA nor a certificate of the chain is that one`;
}

function isNamedAsIssuer(parent: X509Certificate, child: X509Certificate): boolean {
  return readProfile(parent).subject === readProfile(child).issuer;
}

/** What speaks against a certificate wherever it stands. */
function notItself(certificate: X509Certificate, now: number): string | undefined {
  const { notBefore, notAfter, unknownCritical } = readProfile(certificate);
  if (unknownCritical.length > 0) return `has a critical extension that Go does not know (${unknownCritical[0]})`;
  // Certificates have no fractions of seconds.
  if (now < notBefore) return `is not valid before ${certificate.validFrom}`;
  if (now > notAfter) return `expired on ${certificate.validTo}`;
  return undefined;
}

function notAsParent(parent: X509Certificate, chain: X509Certificate[], now: number): ChainFault | undefined {
  const { version, basicConstraints, keyUsage } = readProfile(parent);
  const child = chain.at(-1)!;
  if (basicConstraints ? !basicConstraints.ca : version === 3)
    return invalid(parent, "signs certificates and is no CA (BasicConstraints CA:TRUE is missing)");
  if (keyUsage && keyUsage.length > 0 && !keyUsage.includes("keyCertSign"))
    return invalid(parent, "signs certificates, which its KeyUsage does not allow (keyCertSign is missing)");
  if (WEAK.includes(readProfile(child).signedWith))
    return invalid(child, "is signed with an algorithm that Go does not accept (MD5, SHA-1 or DSA)");
  const wrong = notItself(parent, now);
  if (wrong) return invalid(parent, wrong);
  const { pathLength } = basicConstraints ?? {};
  if (pathLength !== undefined && chain.length - 1 > pathLength)
    return invalid(parent, `allows ${pathLength} CAs below it (pathLen), and there are ${chain.length - 1}`);
  return undefined;
}

/** What can only be judged of a chain that is complete. */
function wholeFault(chain: X509Certificate[], { purposes }: ChainTerms): ChainFault | undefined {
  for (const certificate of [...chain].reverse()) {
    const { extendedKeyUsage } = readProfile(certificate);
    if (!extendedKeyUsage || extendedKeyUsage.includes(ANY_PURPOSE)) continue;
    const lacking = purposes.find((purpose) => !extendedKeyUsage.includes(PURPOSES[purpose]));
    if (lacking) return invalid(certificate, `is not for ${lacking} (its extended key usages are others)`);
  }
  for (const [above, ca] of chain.entries()) {
    for (const below of chain.slice(0, above)) {
      const refused = refusedName(readProfile(below).names, readProfile(ca));
      if (refused) return invalid(ca, `has name constraints: ${refused}`);
    }
  }
  return undefined;
}

function invalid(certificate: X509Certificate, rule: string): ChainFault {
  return { unknown: false, why: `${nameOf(certificate)} ${rule}` };
}

function same(a: X509Certificate, b: X509Certificate): boolean {
  return a.fingerprint256 === b.fingerprint256;
}
