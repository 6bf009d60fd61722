/**
 * Whether a live object has everything that was set, lists item by item. What else it has was filled in by the API
 * server, or is somebody else's.
 */
export function contains(live: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, i) => contains(live[i], item));
  }
  if (typeof wanted !== "object" || wanted === null) return live === wanted;
  const fields = (typeof live === "object" && live !== null ? live : {}) as Record<string, unknown>;
  return Object.entries(wanted).every(([key, value]) => contains(fields[key], value));
}
