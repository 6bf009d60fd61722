import { BlockList, isIPv6 } from "node:net";
import type { CertificateProfile, NameLists } from "./certificate-profile";

type Kind = keyof NameLists;

const WORDS: Record<Kind, string> = { dns: "DNS name", ips: "IP address", uris: "URI", emails: "email address" };

/**
 * A name of a certificate that a CA above it may not sign (RFC 5280, 4.2.1.10), in words; `undefined` if there is none.
 * Names are compared as Go's crypto/x509 does: one of a kind that no constraint speaks of is free.
 */
export function refusedName(names: NameLists | undefined, ca: CertificateProfile): string | undefined {
  if (!names || !ca.nameConstraints) return undefined;
  const { permitted, excluded } = ca.nameConstraints;
  for (const kind of Object.keys(WORDS) as Kind[]) {
    for (const name of names[kind]) {
      const within = (constraint: string) => isWithin(kind, name, constraint);
      if (permitted[kind].length > 0 && !permitted[kind].some(within))
        return `the ${WORDS[kind]} ${name} is none that it permits (${permitted[kind].join(", ")})`;
      const against = excluded[kind].find((constraint) => within(constraint) || mayCover(kind, name, constraint));
      if (against !== undefined) return `it excludes the ${WORDS[kind]} ${name} (${against || "all"})`;
    }
  }
  return undefined;
}

function isWithin(kind: Kind, name: string, constraint: string): boolean {
  switch (kind) {
    case "dns":
      return isBelow(name, constraint);
    case "ips":
      return isInRange(name, constraint);
    case "uris":
      return isBelow(hostOf(name), constraint);
    case "emails":
      return constraint.includes("@")
        ? mailbox(name) === mailbox(constraint)
        : isBelow(name.slice(name.lastIndexOf("@") + 1), constraint);
  }
}

/** `example.com` covers itself and what is below it, `.example.com` only what is below it, an empty one everything. */
function isBelow(name: string, constraint: string): boolean {
  const [a, b] = [name.toLowerCase(), constraint.toLowerCase()];
  if (b === "" || a === b) return true;
  return a.endsWith(b.startsWith(".") ? b : `.${b}`);
}

/** A wildcard stands for names that are excluded, too: `*.example.com` for `a.example.com`. */
function mayCover(kind: Kind, name: string, constraint: string): boolean {
  if (kind !== "dns" || !name.startsWith("*")) return false;
  const below = (text: string) => text.slice(text.indexOf(".")).toLowerCase();
  return constraint.includes(".") && below(name) === below(constraint);
}

function isInRange(address: string, range: string): boolean {
  const [network = "", prefix = ""] = range.split("/");
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  if (family !== (isIPv6(address) ? "ipv6" : "ipv4")) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(address, family);
}

function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).hostname : "";
}

function mailbox(email: string): string {
  const at = email.lastIndexOf("@");
  return email.slice(0, at) + email.slice(at).toLowerCase();
}
