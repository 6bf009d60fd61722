import { configPath } from "./problems";
import type { CertificateInput } from "./schema-tls";
import type { ConfigProblem } from "./types";

/** Also of a CA's key, which has no encoding. */
export function keyProblems(key: NonNullable<CertificateInput["privateKey"]>, path: PropertyKey[]): ConfigProblem[] {
  const algorithm = key.algorithm ?? "RSA";
  const problem = (field: string, value: unknown, rule: string, mend: string) => ({
    path: configPath([...path, field]),
    value,
    rule,
    mend,
  });
  if (algorithm === "Ed25519") {
    return [
      ...(key.size === undefined ? [] : [problem("size", key.size, "has no meaning with Ed25519", "Leave it out")]),
      ...(key.encoding === "PKCS1"
        ? [problem("encoding", "PKCS1", "must be PKCS8 with Ed25519", "Leave it out or choose PKCS8")]
        : []),
    ];
  }
  if (key.size === undefined) return [];
  if (algorithm === "ECDSA" && ![256, 384, 521].includes(key.size))
    return [problem("size", key.size, "must be 256, 384 or 521 with ECDSA", "Choose 256")];
  if (algorithm === "RSA" && (key.size < 2048 || key.size > 8192))
    return [problem("size", key.size, "must be between 2048 and 8192 with RSA", "Choose 2048, 3072 or 4096")];
  return [];
}
