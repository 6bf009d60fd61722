import { ConfigError, type ConfigProblem, classify, type EtcdSpec, type Operation, parseSpec } from "../../config";

/** A stack config. */
export type Raw = Record<string, unknown>;

export const spec = (raw: Raw): EtcdSpec => parseSpec(raw).spec;

/** What has to be done to come from one config to the next. */
export const between = (old: Raw, next: Raw): Operation => classify(spec(old), spec(next));

/** What is refused of it; nothing where it is accepted. */
export function refusals(old: Raw, next: Raw): ConfigProblem[] {
  try {
    between(old, next);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
