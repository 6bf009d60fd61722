/**
 * Makes a plain value unchangeable, all the way down, and returns it.
 *
 * What the world hands out is frozen instead of copied: quicker, and an engine that changed what an API gave it, or
 * what it gave an API, would fail at once.
 */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || !isPlain(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}

/** By name, because a test's realm and Node's own differ. Certificates, for one, keep caches in themselves. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || value.constructor?.name === "Object";
}
