import { compareVersions, semver } from "./formats";

/** A minor release, such as `3.6`: what data, protocol and flags go by. */
export type Minor = `${number}.${number}`;

/** The minor release of a version. A version that is none counts as 0.0. */
export function minorOf(version: string): Minor {
  const [major = 0, minor = 0] = /^(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
  return `${major}.${minor}`;
}

function parts(minor: Minor): [number, number] {
  const [major, release] = minor.split(".").map(Number);
  return [major!, release!];
}

/** How many minor releases `to` is after `from`; negative where it is before, endless where the major release differs. */
export function minorsBetween(from: Minor, to: Minor): number {
  const [[fromMajor, fromMinor], [toMajor, toMinor]] = [parts(from), parts(to)];
  if (fromMajor !== toMajor) return toMajor > fromMajor ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return toMinor - fromMinor;
}

export function isNewerMinor(minor: Minor, than: Minor): boolean {
  return minorsBetween(than, minor) > 0;
}

/** The minor release that is `steps` after this one. */
export function nextMinor(minor: Minor, steps = 1): Minor {
  const [major, release] = parts(minor);
  return `${major}.${release + steps}`;
}

/**
 * The oldest patch release from which a minor release may be reached, as etcd's upgrade guides have it: members that
 * were removed come back with 3.6 over an older 3.5, and older releases of 3.6 may not understand 3.7.
 */
const UPGRADE_FROM: Partial<Record<Minor, string>> = { "3.6": "3.5.26", "3.7": "3.6.11" };

/** The last patch releases that were known when this was written: what to go to first. */
const LAST: Partial<Record<Minor, string>> = { "3.5": "3.5.36", "3.6": "3.6.17", "3.7": "3.7.3" };

export interface VersionProblem {
  rule: string;
  mend: string;
}

/** Why members of one version cannot be restarted with another, one after the other; undefined where they can. */
export function jumpProblem(from: string, to: string): VersionProblem | undefined {
  const [old, next] = [minorOf(from), minorOf(to)];
  const steps = minorsBetween(old, next);
  if (Math.abs(steps) > 1) {
    const between = nextMinor(old, Math.sign(steps));
    return {
      rule: `must be of the minor release ${old}, the one before it or the one after it: etcd goes one minor release at a time`,
      mend: `Go to ${LAST[between] ?? between} first`,
    };
  }
  const floor = UPGRADE_FROM[next];
  if (steps < 1 || floor === undefined || compareVersions(semver(from) ?? [0, 0, 0], semver(floor)!) >= 0)
    return undefined;
  return {
    rule: `can be reached from ${floor} or later, as etcd's upgrade guide has it, and not from ${from}`,
    mend: `Go to ${LAST[old] ?? floor} first`,
  };
}
