/**
 * The functions of a module whose names begin with one of `prefixes`, each computed once for the same arguments.
 *
 * Rendering and verifying certificates are pure, and most of a simulated walk's time: with this, several thousand
 * schedules fit into a minute.
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
    const key = JSON.stringify(args);
    const result = known.has(key) ? known.get(key) : compute(...args);
    known.set(key, result);
    return result;
  };
}
