import { closest, distance } from "fastest-levenshtein";
import { fromJson } from "./fields";
import type { SchemaNode } from "./json-schema";
import { configPath } from "./problems";
import type { ConfigProblem } from "./types";

/** Every key, at every level, that the schema does not know, with the nearest name that it does know. */
export function unknownKeys(value: unknown, schema: SchemaNode, path: PropertyKey[] = []): ConfigProblem[] {
  const found = fromJson(value);
  if (Array.isArray(found)) return found.flatMap((item, i) => unknownKeys(item, schema.items ?? {}, [...path, i]));
  if (typeof found !== "object" || found === null || !schema.properties) return [];
  const known = schema.properties;
  return Object.entries(found).flatMap(([key, child]) =>
    Object.hasOwn(known, key)
      ? unknownKeys(child, known[key]!, [...path, key])
      : [unknownKey([...path, key], child, Object.keys(known))],
  );
}

function unknownKey(path: PropertyKey[], value: unknown, known: string[]): ConfigProblem {
  return {
    path: configPath(path),
    value,
    rule: "is not a key of the stack config",
    mend: suggestion(String(path.at(-1)), known),
  };
}

/** `Did you mean ...?` where something is near, else everything there is to choose from. */
export function suggestion(wrong: string, known: readonly string[]): string {
  const nearest = closest(
    wrong.toLowerCase(),
    [...known].map((name) => name.toLowerCase()),
  );
  const name = known.find((candidate) => candidate.toLowerCase() === nearest) ?? "";
  const near = distance(wrong.toLowerCase(), nearest) <= Math.max(2, Math.floor(wrong.length / 3));
  return near ? `Did you mean \`${name}\`?` : `Choose from ${known.map((each) => `\`${each}\``).join(", ")}`;
}
