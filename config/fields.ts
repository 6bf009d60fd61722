import * as z from "zod";

/**
 * Building blocks of the input schema: every field carries its rule and its mend, for people, and its description,
 * for people's editors.
 */

/** A check of a value: `rule` says what must hold, `mend` what to write instead. */
export interface Check<T> {
  test: (value: T) => boolean;
  rule: string;
  mend: string;
}

export function check<T extends z.ZodType>(schema: T, ...checks: Check<z.output<T>>[]): T {
  const apply = (s: T, c: Check<z.output<T>>): T => s.refine(c.test, { error: c.rule, params: { mend: c.mend } }) as T;
  return checks.reduce(apply, schema);
}

/**
 * A string. Numbers and booleans are taken for their text, because YAML and `pulumi config set --path` make numbers of
 * what looks like one (`cpu: 1`, `postalCodes: [94110]`).
 */
export function text(...checks: Check<string>[]) {
  return z.preprocess(asText, check(z.string(), ...checks));
}

function asText(value: unknown): unknown {
  if (typeof value === "boolean") return String(value);
  const exact = typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return exact ? String(value) : value;
}

/** A whole number. `pulumi config set replicas 3` stores `"3"`. */
export function wholeNumber(...checks: Check<number>[]) {
  return z.preprocess(
    (value) => (typeof value === "string" && /^[-+]?\d+$/.test(value) ? Number(value) : value),
    check(z.number().int(), ...checks),
  );
}

/** A switch. `pulumi config set createNamespace false` stores `"false"`. */
export function flag() {
  return z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
}

/** An object. On the top level Pulumi may hand it over as JSON text. */
export function section<T extends z.ZodRawShape>(shape: T) {
  return z.preprocess(fromJson, z.strictObject(shape));
}

export function list<T extends z.ZodType>(item: T, ...checks: Check<z.output<T>[]>[]) {
  return z.preprocess(fromJson, check(z.array(item), ...(checks as Check<unknown>[])));
}

/** A map whose keys are the user's. */
export function mapOf<T extends z.ZodType>(key: z.ZodType<string, string>, value: T) {
  return z.preprocess(fromJson, z.record(key, value));
}

export function fromJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Shown for the JSON types that `text` takes besides strings. */
export const TEXT_OR_NUMBER = { type: ["string", "number", "boolean"] };
