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

/** With a CA of its own. */
export function ownCaSpec(replicas = 3, tls: Record<string, unknown> = {}): EtcdSpec {
  return tlsSpec(replicas, { tls: { ca: {}, ...tls } });
}

/** On Secrets that somebody else maintains, whose leaves are of that CA. */
export function givenSpec(replicas = 3, ca = "given"): EtcdSpec {
  return tlsSpec(replicas, { tls: { secrets: givenNames(ca) } });
}

/** What such Secrets are called. */
function givenNames(ca: string): Record<"server" | "peer" | "client", string> {
  return { server: `given-${ca}-server`, peer: `given-${ca}-peer`, client: `given-${ca}-client` };
}
