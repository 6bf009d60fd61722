import type { KeySpec } from "./types";

/** Bits where the user wishes for none: cert-manager's defaults. */
const KEY_SIZE = { RSA: 2048, ECDSA: 256, Ed25519: undefined };

/** A key's algorithm and size with the defaults filled in. */
export function keySpec(
  wish: { algorithm?: KeySpec["algorithm"] | undefined; size?: number | undefined },
  otherwise: KeySpec["algorithm"],
): KeySpec {
  const algorithm = wish.algorithm ?? otherwise;
  const size = wish.size ?? KEY_SIZE[algorithm];
  return { algorithm, ...(size !== undefined && { size }) };
}
