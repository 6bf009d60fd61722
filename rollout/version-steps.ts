import { describeProblem } from "../config/problems";
import { type Minor, minorOf, minorsBetween, nextMinor } from "../config/versions";
import { evaluateGate } from "./gate";
import type { Journal } from "./journal";
import type { Observation } from "./observe";
import type { Plan } from "./plan";
import {
  downgradeOf,
  type LiveVersions,
  planVersions,
  readVersions,
  silenceProblem,
  spoken,
  type VersionStep,
  versionProblems,
  versionStepText,
} from "./versions";
import { CALL_DEADLINE_MS, type ClusterView } from "./view";
import { FatalError, waitFor } from "./wait";

/** Whether a plan restarts any member. */
export function restarts({ steps }: Pick<Plan, "steps">): boolean {
  return steps.some(({ kind }) => kind === "restart");
}

/**
 * Makes the cluster ready for members of the spec's version, before the first of them is started. Returns what is left
 * to do after the last one.
 */
export async function prepareVersion(
  { view }: Observation,
  plan: Plan,
  journal: Journal,
  from: string | undefined,
): Promise<VersionStep[]> {
  const live = await awaitVersions(view, restarts(plan) ? from : undefined);
  const { before, after } = planVersions(view.spec, live, restarts(plan));
  await perform(view, before, journal);
  if (restarts(plan) && live.members.length > 0) await awaitNeighbour(view);
  return after;
}

/** How long a cluster that nothing was done to may be silent before it is left as it is, in milliseconds. */
const SILENT_MS = 30_000;

/** What is left of a change of version after the walk, such as what could not be seen before it: nobody answered then. */
export async function settleVersion({ view }: Observation, planned: VersionStep[], journal: Journal): Promise<void> {
  await perform(view, planned, journal);
  const live = await waitFor({ ...deadline(view), deadlineMs: SILENT_MS, what: "a member to answer" }, async () => {
    const now = await readVersions(view, await view.pods());
    return now.members.length > 0 ? { done: now } : "none does";
  }).catch(() => undefined);
  if (!live) return;
  const { before, after } = planVersions(view.spec, live, false);
  await perform(view, [...before, ...after], journal);
}

/** As long as nobody answers, nobody is brought to another minor release. */
function awaitVersions(view: ClusterView, from: string | undefined): Promise<LiveVersions> {
  return waitFor({ ...deadline(view), what: "a member to say which etcd it runs" }, async () => {
    const live = await readVersions(view, await view.pods());
    const [problem] = silenceProblem(view.spec, live, from);
    return problem ? problem.rule : { done: live };
  });
}

function deadline({ ports, spec }: ClusterView) {
  return { clock: ports.clock, deadlineMs: spec.rollout.stepTimeoutSeconds * 1000, intervalMs: 500 };
}

async function perform(view: ClusterView, steps: VersionStep[], journal: Journal): Promise<void> {
  for (const step of steps) {
    const text = versionStepText(step);
    journal.progress(text);
    await carryOut(view, step);
    journal.note(text, "", "UpdateDatabase");
  }
}

/**
 * Refuses a walk whose first member would not start, whatever the config was compared with: nothing but the final walk
 * comes after what makes a cluster ready for another version.
 */
export async function refuseVersion({ view, pods }: Observation, plan: Plan, final: boolean): Promise<void> {
  if (!restarts(plan)) return;
  const live = await readVersions(view, pods);
  const problems = versionProblems(view.spec, live);
  if (problems[0]) throw new FatalError(describeProblem(problems[0]));
  const [step] = planVersions(view.spec, live, true).before;
  if (step && !final) throw new FatalError(describeProblem(notPrepared(view.spec.version, step)));
}

/** A change of version that has to be prepared, in an update that restarts the members for another reason first. */
export function notPrepared(version: string, step: VersionStep) {
  return {
    path: "etcd:version",
    value: version,
    rule: `must be changed in an update of its own: members would be restarted for other reasons before this is done: ${versionStepText(step)}`,
    mend: "Change the version in one update and TLS in another",
  };
}

function carryOut(view: ClusterView, step: VersionStep): Promise<void> {
  switch (step.kind) {
    case "cancel":
      return until(view, versionStepText(step), (live) => cancel(view, live));
    case "downgrade":
      return until(view, versionStepText(step), (live) => downgrade(view, live, step.to));
    case "snapshot":
      return until(view, versionStepText(step), snapshot(view));
    case "settle":
      return until(view, versionStepText(step), (live) => settle(view, live, step.to));
  }
}

/** Why it is not there yet; undefined once it is. */
type Look = (live: LiveVersions) => Promise<string | undefined>;

function until(view: ClusterView, what: string, look: Look): Promise<void> {
  return waitFor({ ...deadline(view), what: `this: ${what}` }, async () => {
    const live = await readVersions(view, await view.pods());
    if (live.silent.length > 0) return `${live.silent.join(", ")} does not answer`;
    const reason = await look(live);
    return reason ?? { done: undefined };
  });
}

async function setDowngrade(view: ClusterView, to: Minor | undefined): Promise<string> {
  const verdict = await evaluateGate(view);
  if (!verdict.open) return verdict.reasons.join("; ");
  await view.askAny(await view.pods(), (address) => view.ports.etcd.setDowngrade(address, to, CALL_DEADLINE_MS));
  return to === undefined ? "it was cancelled just now" : "it was enabled just now";
}

async function cancel(view: ClusterView, live: LiveVersions): Promise<string | undefined> {
  return downgradeOf(live) === undefined ? undefined : setDowngrade(view, undefined);
}

async function downgrade(view: ClusterView, live: LiveVersions, to: Minor): Promise<string | undefined> {
  if (downgradeOf(live) !== to) return setDowngrade(view, to);
  if (spoken(live) !== to) return `the cluster still speaks ${spoken(live)}`;
  const behind = live.members.filter(({ storage }) => storage !== undefined && minorOf(storage) !== to);
  return behind.length === 0 ? undefined : `${behind.map(({ name }) => name).join(", ")} has not migrated its data`;
}

/**
 * A cluster that steps down writes snapshots at once: nothing else makes it. So it is let down to 3.5 and, as no member
 * of that release is started, comes back within seconds.
 */
function snapshot(view: ClusterView): Look {
  let written = false;
  return async (live) => {
    const enabled = downgradeOf(live);
    if (!written && enabled !== "3.5") return setDowngrade(view, "3.5");
    // Every member has come to it. Its count begins anew when it restarts, and is no sign.
    written ||= spoken(live) === "3.5";
    if (!written) return "not every member has written one";
    if (enabled !== undefined) return setDowngrade(view, undefined);
    return spoken(live) === "3.6" ? undefined : `the cluster still speaks ${spoken(live)}`;
  };
}

async function settle(view: ClusterView, live: LiveVersions, to: Minor): Promise<string | undefined> {
  const other = live.members.find(({ server }) => minorOf(server) !== to);
  if (other) return `${other.name} runs ${other.server}: if that is what the image holds, etcd:version is wrong`;
  const enabled = downgradeOf(live);
  if (enabled !== undefined && enabled !== to) return setDowngrade(view, undefined);
  if (enabled !== undefined) return "the downgrade is not ended yet";
  return spoken(live) === to ? undefined : `the cluster still speaks ${spoken(live)}`;
}

/**
 * A member may be one minor release ahead of what the cluster speaks; just after an upgrade that takes seconds to follow.
 * Who does not answer may be what the walk is to mend.
 */
async function awaitNeighbour(view: ClusterView): Promise<void> {
  const target = minorOf(view.spec.version);
  const what = `the cluster to speak etcd ${nextMinor(target, -1)} or ${target}`;
  await waitFor({ ...deadline(view), what }, async () => {
    const now = spoken(await readVersions(view, await view.pods()));
    return now === undefined || Math.abs(minorsBetween(now, target)) <= 1 ? { done: undefined } : `it speaks ${now}`;
  });
}
