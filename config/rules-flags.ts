import { flagProblem, flagValueProblem, gateOf, newNameOf } from "./etcd-flags";
import { configPath } from "./problems";
import type { ConfigProblem, EtcdSpec } from "./types";

/**
 * Flags that etcd of the spec's version does not start with: the first member that is restarted would not come back.
 * Variables (`ETCD_*`) need no rule of their own: none of them is accepted.
 */
export function flagProblems({ extraArgs, version }: Pick<EtcdSpec, "extraArgs" | "version">): ConfigProblem[] {
  return Object.entries(extraArgs).flatMap(([flag, value]) => {
    const problem = flagProblem(flag, version) ?? flagValueProblem(flag, value, version) ?? setTwice(flag, extraArgs);
    return problem ? [{ path: configPath(["extraArgs", flag]), value, ...problem }] : [];
  });
}

/** A flag by its old name and by its new one, or as a flag and as a feature gate: etcd takes one of the two. */
function setTwice(flag: string, extraArgs: EtcdSpec["extraArgs"]): Pick<ConfigProblem, "rule" | "mend"> | undefined {
  const gate = gateOf(flag);
  const twin = newNameOf(flag) ?? (gate && extraArgs["feature-gates"]?.includes(gate) ? "feature-gates" : undefined);
  if (twin === undefined || extraArgs[twin] === undefined) return undefined;
  return {
    rule: `must not be set together with ${twin}, which is its new name: etcd exits with both`,
    mend: `Keep ${twin} alone`,
  };
}
