import { isServed, servableKeys } from "../config/suite-keys";
import type { CertificateSpec, EtcdSpec } from "../config/types";
import { certificatesOf } from "./x509";

const ALGORITHMS: Record<string, string> = { rsa: "RSA", "rsa-pss": "RSA", ec: "ECDSA", ed25519: "Ed25519" };

/**
 * Why a member could serve nobody with a certificate that it is given, whoever trusts it: TLS 1.2 alone, and no chosen
 * suite goes with the key. For certificates that are made here the config's own rules say so.
 */
export function unservableKey(
  spec: Pick<EtcdSpec, "tls" | "extraArgs">,
  { secretName }: Pick<CertificateSpec, "secretName">,
  chainPem: string,
): string | undefined {
  const keys: string[] | undefined = servableKeys(spec);
  const served = spec.tls?.certificates.some((each) => each.secretName === secretName && isServed(each));
  const [leaf] = certificatesOf(chainPem);
  if (!keys || !served || !leaf) return undefined;
  const type = leaf.publicKey.asymmetricKeyType ?? "";
  const algorithm = ALGORITHMS[type] ?? type;
  if (keys.includes(algorithm)) return undefined;
  return `has a key of ${algorithm}, and etcd:tls.cipherSuites go with ${keys.join(" or ")} keys alone where extraArgs.tls-max-version is TLS1.2`;
}
