import type { EtcdSpec } from "./types";

/** Whether members of the two specs have a TLS version, and where it matters a cipher suite, in common. */
export function understandEachOther(left: EtcdSpec, right: EtcdSpec): boolean {
  if (speaks13(left) && speaks13(right)) return true;
  if (!speaks12(left) || !speaks12(right)) return false;
  const [ours, theirs] = [suites(left), suites(right)];
  return ours.length === 0 || theirs.length === 0 || ours.some((suite) => theirs.includes(suite));
}

function speaks13({ extraArgs }: EtcdSpec): boolean {
  return extraArgs["tls-max-version"] !== "TLS1.2";
}

function speaks12({ tls }: EtcdSpec): boolean {
  return tls?.minVersion !== "TLS1.3";
}

/** Empty where Go chooses. */
function suites({ tls }: EtcdSpec): string[] {
  return tls?.cipherSuites ?? [];
}
