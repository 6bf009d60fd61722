import { type EtcdSpec, parseSpec } from "../../../config";

const BASE = { name: "db", namespace: "data", rollout: { stepTimeout: "2m" } };

const known = new Map<string, EtcdSpec>();

/** Parsing takes longer than a simulated walk. Every caller gets a copy of its own. */
function spec(config: Record<string, unknown>): EtcdSpec {
  const key = JSON.stringify(config);
  const parsed = known.get(key) ?? parseSpec(config).spec;
  known.set(key, parsed);
  return structuredClone(parsed);
}

export function plainSpec(replicas = 3, more: Record<string, unknown> = {}): EtcdSpec {
  return spec({ ...BASE, replicas, ...more });
}

export function tlsSpec(replicas = 3, more: Record<string, unknown> = {}): EtcdSpec {
  return spec({ ...BASE, replicas, tls: { issuerRef: { name: "ca-a", kind: "Issuer" } }, ...more });
}
