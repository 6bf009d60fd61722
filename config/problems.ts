import type { ConfigProblem } from "./types";

/** Config that is refused. Carries every problem that was found, so that they can be mended in one go. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    super(describeProblems(problems));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** One problem in one line: where, what was found, what must hold, what to write instead. */
export function describeProblem(problem: ConfigProblem): string {
  const found = problem.value === undefined ? "" : ` = ${shortened(JSON.stringify(problem.value))}`;
  return `${problem.path}${found}: ${problem.rule}. ${problem.mend}`;
}

/** A certificate in PEM would hide the rest of the line. */
function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 100)}...` : text;
}

function describeProblems(problems: ConfigProblem[]): string {
  if (problems.length === 1) return describeProblem(problems[0]!);
  return [`${problems.length} problems in the stack config:`, ...problems.map((p) => `  - ${describeProblem(p)}`)].join(
    "\n",
  );
}

/** The path of a config key as it is shown and as `pulumi config set --path` takes it. */
export function configPath(path: readonly PropertyKey[]): string {
  return `etcd:${path.reduce<string>((joined, part) => joinPath(joined, part), "")}`;
}

/** Keys with dots of their own go into brackets: `limits["nvidia.com/gpu"]`. */
export function joinPath(path: string, part: PropertyKey): string {
  if (typeof part === "number") return `${path}[${part}]`;
  const name = String(part);
  if (/[.[\]"]/.test(name)) return `${path}["${name}"]`;
  return path === "" ? name : `${path}.${name}`;
}
