import { DEFAULT_CLIENT, DEFAULT_RESTART } from "./defaults-tls";
import { joinPath } from "./problems";
import type { EtcdSpec, FieldChange } from "./types";

/**
 * Every field in which two specs differ, down to the single value. Lists of plain values are compared as a whole.
 *
 * The restart token is left out: it follows from other fields, which are shown.
 */
export function diffSpecs(old: EtcdSpec, next: EtcdSpec): FieldChange[] {
  return diffFields(comparable(old), comparable(next), "");
}

/** A record from before these settings existed is one with their defaults, so that they don't come as changes. */
function comparable({ restartToken: _, ...spec }: EtcdSpec): Omit<EtcdSpec, "restartToken"> {
  if (!spec.tls) return spec;
  const { client = DEFAULT_CLIENT, trustedCAs = [], cipherSuites = [], restartPolicy = DEFAULT_RESTART } = spec.tls;
  return { ...spec, tls: { ...spec.tls, client, trustedCAs, cipherSuites, restartPolicy } };
}

function diffFields(old: unknown, next: unknown, path: string): FieldChange[] {
  const [oldFields, nextFields] = [fieldsOf(old), fieldsOf(next)];
  if (!oldFields && !nextFields) return isEqual(old, next) ? [] : [{ path, old, new: next }];
  if ((!oldFields && old !== undefined) || (!nextFields && next !== undefined)) return [{ path, old, new: next }];
  const names = new Set([...(oldFields?.keys() ?? []), ...(nextFields?.keys() ?? [])]);
  const changes = [...names].flatMap((name) =>
    diffFields(oldFields?.get(name), nextFields?.get(name), join(path, name)),
  );
  // An empty map that comes or goes has no field to show it by.
  const vanished = (old === undefined) !== (next === undefined);
  return changes.length === 0 && (vanished || isReordered(old, next)) ? [{ path, old, new: next }] : changes;
}

/** Whether only the order of a list differs. Later variables may refer to earlier ones, so that it counts. */
function isReordered(old: unknown, next: unknown): boolean {
  return Array.isArray(old) && Array.isArray(next) && !isEqual(old.map(nameOf), next.map(nameOf));
}

/** The parts of a value by their name; undefined where the value is compared as a whole. */
function fieldsOf(value: unknown): Map<string, unknown> | undefined {
  if (Array.isArray(value)) return itemsByName(value);
  if (typeof value !== "object" || value === null) return undefined;
  return new Map(Object.entries(value).filter(([, each]) => each !== undefined));
}

/** Certificates go by their alias, variables by their name, so that a new one does not shift the others' paths. */
function itemsByName(items: unknown[]): Map<string, unknown> | undefined {
  const names = items.map(nameOf);
  if (names.includes(undefined)) return undefined;
  return new Map(names.map((name, index) => [`[${name}]`, items[index]]));
}

function nameOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { alias, name } = item as { alias?: string; name?: string };
  return alias ?? name;
}

function join(path: string, name: string): string {
  return name.startsWith("[") ? path + name : joinPath(path, name);
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
