import { type EtcdSpec, parseSpec } from "../../../config";
import { frozen } from "./frozen";

const BASE = { name: "db", namespace: "data", rollout: { stepTimeout: "2m" } };

const known = new Map<string, EtcdSpec>();

/** Parsing takes longer than a simulated walk. All callers share one that nobody can change. */
function spec(config: Record<string, unknown>): EtcdSpec {
  const key = JSON.stringify(config);
  const parsed = known.get(key) ?? frozen(parseSpec(config).spec);
  known.set(key, parsed);
  return parsed;
}

export function plainSpec(replicas = 3, more: Record<string, unknown> = {}): EtcdSpec {
  return spec({ ...BASE, replicas, ...more });
}

export function tlsSpec(replicas = 3, more: Record<string, unknown> = {}): EtcdSpec {
  return spec({ ...BASE, replicas, tls: { issuerRef: { name: "ca-a", kind: "Issuer" } }, ...more });
}
