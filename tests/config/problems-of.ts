import { ConfigError, type ConfigProblem, parseSpec } from "../../config";

/** What is wrong with a config; nothing where it is accepted. */
export function problemsOf(raw: Record<string, unknown>): ConfigProblem[] {
  try {
    parseSpec(raw);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
