/** A step as it is printed and recorded: `pass 1/2: restart etcd-0`, `ask Issuer etcd-ca for its CA`. */
const STEP = new RegExp(
  [
    String.raw`(?:pass \d+/\d+|widen|settle|move): .*`,
    String.raw`ask \S+ \S+ for its CA`,
    "trust bundle: (?:add|drop) .*",
    String.raw`(?:restore|re-issue) Certificate \S+(?:: .*)?`,
    "wait until every member serves its new certificates",
    String.raw`cancel the downgrade to etcd \S+`,
    String.raw`enable the downgrade to etcd \S+, and wait .*`,
    "let every member write a snapshot, .*",
    String.raw`wait until the cluster speaks etcd \S+`,
  ]
    .map((form) => `^${form}$`)
    .join("|"),
);

/** The steps of TrustBundle, which comes before Rollout. */
const WIDENING = /^(?:ask |trust bundle: add |widen: )/;

/**
 * The steps that a preview printed, in order, each once. Pulumi prints what resources told grouped by resource, the
 * groups in no fixed order: they are put into that of the resources.
 */
export function planLines(printed: string): string[] {
  const lines = printed.split("\n").flatMap((line) => {
    // The row of a resource repeats the last line that it told: there it is not in its place.
    const step = line.trim();
    return STEP.test(step) ? [step] : [];
  });
  const unique = [...new Set(lines)];
  return [...unique.filter((line) => WIDENING.test(line)), ...unique.filter((line) => !WIDENING.test(line))];
}

/** The row of a resource that an update is busy with, the fields that differ, and the last line that it told. */
const ROW = /^ .*? (?:creat|updat)(?:ing|ed) \([\dhms.]+\) (?:\[diff: [^\]]*\];? ?)?(.*)$/;

/**
 * What an update has told so far of its steps, in order: each when it is done (`pass 1/2: restart etcd-0: serving
 * again after 1.2 s`), and of restarts also that they begin (`pass 1/2: restarting etcd-0 (1 of 3)`).
 */
export function toldLines(printed: string): string[] {
  const complete = printed.slice(0, printed.lastIndexOf("\n") + 1);
  const lines = complete.split("\n").flatMap((line) => {
    const told = ROW.exec(line)?.[1]?.trim();
    return told && STEP.test(told) ? [told] : [];
  });
  return [...new Set(lines)];
}

/** Of those, the steps that are done. */
export function doneSteps(printed: string): string[] {
  return toldLines(printed).filter((line) => !/: restarting \S+ \(\d+ of \d+\)$/.test(line));
}

/**
 * In what the steps that were carried out differ from those that were printed; undefined when they don't.
 *
 * Where the leader changed between the two, the order of members within a pass and the moves of leadership may
 * differ, and nothing else.
 */
export function planDifference(printed: string[], recorded: string[], leaderChanged: boolean): string | undefined {
  const [expected, actual] = leaderChanged ? [withoutOrder(printed), withoutOrder(recorded)] : [printed, recorded];
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    if (expected[index] === actual[index]) continue;
    return `step ${index + 1}: preview printed ${quote(expected[index])}, the run recorded ${quote(actual[index])}`;
  }
  return undefined;
}

/** The leader that a preview named; undefined where it said that it does not know. */
export function predictedLeader(printed: string): string | undefined {
  return /(\S+) leads now and goes last/.exec(printed)?.[1];
}

function withoutOrder(steps: string[]): string[] {
  return steps.filter((step) => !step.includes("move leadership")).sort();
}

function quote(step: string | undefined): string {
  return step === undefined ? "nothing" : `"${step}"`;
}
