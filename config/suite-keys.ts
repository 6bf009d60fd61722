import { configPath } from "./problems";
import { certificateSource, ownCertificates } from "./source";
import type { CertificateSpec, ConfigProblem, EtcdSpec, KeySpec } from "./types";

type Algorithm = KeySpec["algorithm"];

/** RFC 8422, 5.1 and 5.10: which keys the server's certificate may have under a suite. */
const KEYS_OF: Record<string, Algorithm[]> = { ECDHE_RSA: ["RSA"], ECDHE_ECDSA: ["ECDSA", "Ed25519"] };

/**
 * Algorithms of keys with which members can serve; `undefined`: any. TLS 1.3 leaves it to the certificate, TLS 1.2 to the
 * suite, so only members that speak no TLS 1.3 and have their suites chosen are bound.
 */
export function servableKeys({ tls, extraArgs }: Pick<EtcdSpec, "tls" | "extraArgs">): Algorithm[] | undefined {
  const suites = tls?.cipherSuites ?? [];
  if (suites.length === 0 || extraArgs["tls-max-version"] !== "TLS1.2") return undefined;
  return Object.entries(KEYS_OF).flatMap(([exchange, keys]) =>
    suites.some((suite) => suite.startsWith(`TLS_${exchange}_`)) ? keys : [],
  );
}

/** What the two listeners show. A client's certificate is not bound by the suite. */
export function isServed({ alias }: Pick<CertificateSpec, "alias">): boolean {
  return alias === "server" || alias === "peer";
}

/** Keys that no chosen suite can be spoken with: every handshake would fail. Expects the spec with `tls`. */
export function suiteKeyProblems(
  spec: Pick<EtcdSpec, "tls" | "extraArgs">,
  made = isMade(spec) ? ownCertificates(spec.tls) : [],
): ConfigProblem[] {
  const keys = servableKeys(spec);
  if (!keys) return [];
  return made
    .filter((certificate) => isServed(certificate) && !keys.includes(certificate.privateKey.algorithm))
    .map(({ alias, privateKey: { algorithm } }) => ({
      path: configPath(["tls", "cipherSuites"]),
      value: spec.tls?.cipherSuites,
      rule: `go with ${keys.join(" or ")} keys alone where extraArgs.tls-max-version is TLS1.2, and the ${alias} certificate has a key of ${algorithm}: no handshake would succeed`,
      mend: `Set etcd:tls.certificates[${alias}].privateKey.algorithm to ${keys[0]}, add a suite of the other kind, or allow TLS 1.3`,
    }));
}

/** Keys of what is handed in, or maintained by somebody else, are seen in the certificates themselves. */
function isMade({ tls }: Pick<EtcdSpec, "tls">): boolean {
  return tls !== undefined && certificateSource(tls) !== "secrets" && (tls.ca ?? tls.issuerRef) !== undefined;
}
