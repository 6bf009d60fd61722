import type { SubjectSpec } from "./types";

/** An absent field and an empty list mean the same; only one of them may be kept, or they would show as a change. */
export function withoutAbsent(subject: SubjectSpec): SubjectSpec {
  const isSet = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(subject).filter(([, value]) => isSet(value)));
}
