import { frozen } from "./frozen";

/**
 * The functions of a module whose names begin with one of `prefixes`, each computed once for the same arguments.
 *
 * Rendering and verifying certificates are pure, and most of a simulated walk's time: with this, thousands of
 * schedules fit into a minute. Results are frozen, since they are shared.
 */
export function memoized<M extends object>(module: M, prefixes: string[]): M {
  const entries = Object.entries(module).map(([name, value]) => {
    const pure = typeof value === "function" && prefixes.some((prefix) => name.startsWith(prefix));
    return [name, pure ? once(value as (...args: unknown[]) => unknown) : value];
  });
  return Object.fromEntries(entries) as M;
}

function once(compute: (...args: unknown[]) => unknown) {
  const known = new Map<string, unknown>();
  return (...args: unknown[]) => {
    const key = args.map(keyOf).join("\0");
    if (known.has(key)) return known.get(key);
    const result = frozen(compute(...args));
    known.set(key, result);
    return result;
  };
}

const identities = new WeakMap<object, string>();

/** What is frozen cannot change, so its identity stands for it; anything else is told apart by what it holds. */
function keyOf(value: unknown): string {
  if (typeof value === "string") return `"${value}`;
  if (typeof value !== "object" || value === null) return String(value);
  // A certificate has no properties of its own to be told apart by, and caches inside, so that it cannot be frozen.
  if ("fingerprint256" in value) return `certificate ${value.fingerprint256}`;
  if (!Object.isFrozen(value)) {
    return `{${Object.entries(value)
      .map(([name, part]) => `${name}:${keyOf(part)}`)
      .join("\u0001")}}`;
  }
  const identity = identities.get(value) ?? `#${nextIdentity++}`;
  identities.set(value, identity);
  return identity;
}

let nextIdentity = 1;
