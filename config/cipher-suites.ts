import { distance } from "fastest-levenshtein";
import type { ConfigProblem } from "./types";

const KEY_EXCHANGES = ["ECDHE_ECDSA", "ECDHE_RSA"];
const CIPHERS = [
  "AES_128_GCM_SHA256",
  "AES_256_GCM_SHA384",
  "CHACHA20_POLY1305_SHA256",
  "AES_128_CBC_SHA",
  "AES_256_CBC_SHA",
];

/** Go's suites of TLS 1.2, by the names that etcd takes. Those that Go calls insecure are not among them. */
export const CIPHER_SUITES: readonly string[] = KEY_EXCHANGES.flatMap((exchange) =>
  CIPHERS.map((cipher) => `TLS_${exchange}_WITH_${cipher}`),
);

/** HTTP/2 demands one of them: without, etcd serves no client. */
export const HTTP2_SUITES: readonly string[] = KEY_EXCHANGES.map(
  (exchange) => `TLS_${exchange}_WITH_AES_128_GCM_SHA256`,
);

const TLS13_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** Why a name cannot be chosen, and what to choose instead; undefined where it can. */
export function cipherSuiteProblem(name: string): Pick<ConfigProblem, "rule" | "mend"> | undefined {
  if (CIPHER_SUITES.includes(name)) return undefined;
  if (TLS13_SUITES.includes(name)) {
    return { rule: "belongs to TLS 1.3, whose suites are all on and cannot be chosen", mend: "Leave it out" };
  }
  if (/_(RC4|3DES)_|^TLS_RSA_|_CBC_SHA256$/.test(name)) {
    return { rule: "is insecure, and HTTP/2 does not allow it", mend: `Choose from ${quoted(nearest(name))}` };
  }
  return { rule: "must be a cipher suite in Go's names", mend: `Near it are ${quoted(nearest(name))}` };
}

/** Three names, the nearest first. What OpenSSL leaves out of its names does not count. */
function nearest(name: string): string[] {
  const far = (suite: string) => distance(essence(name), essence(suite));
  return [...CIPHER_SUITES].sort((a, b) => far(a) - far(b)).slice(0, 3);
}

function essence(name: string): string {
  return name
    .toUpperCase()
    .replace(/^TLS_|WITH_/g, "")
    .replace(/[^A-Z0-9]/g, "");
}

function quoted(names: string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
