import { classify } from "../config";
import type { ConfigProblem, EtcdSpec, Operation, OperationKind } from "../config/types";
import { finalStage, trustRevision } from "../manifests";
import { demandAuthentication } from "./authentication";
import {
  pruneBundle,
  readBundle,
  readTrustedCas,
  sameTrust,
  subjectsBeyond,
  union,
  unionOfKnown,
  writeBundle,
} from "./bundle";
import { clockSkew } from "./clock-skew";
import { discountEdits } from "./edits";
import { evaluateGate } from "./gate";
import { sweepProbes } from "./issuer-ca";
import { Journal, type Record } from "./journal";
import { withLease } from "./lease";
import { previewLeaves, syncLeaves } from "./leaves";
import { type Observation, observe, plannedPods, walkedTo } from "./observe";
import { planWalk, walk } from "./passes";
import { NO_PLAN, type Plan } from "./plan";
import type { Ports } from "./ports";
import { checkOwnership, checkPrerequisites } from "./preflight";
import { Refusal } from "./problems";
import { hashOf, type Rendering } from "./render";
import { previewRepair } from "./repair-preview";
import { repairIfNeeded } from "./repair-walk";
import { checkReplacement } from "./replacement";
import { sweepSeeds } from "./seeds";
import { awaitServing, notServing } from "./serving";
import { deletedWorkload, findTraces, notHere } from "./traces";
import { hasTlsMembers, inPlace, PENDING, previewTrust } from "./trust";
import { notPrepared, prepareVersion, restarts, settleVersion } from "./version-steps";
import { planVersions, readVersions, silenceProblem, versionNotes, versionProblems, versionStepText } from "./versions";
import { checkVolumes } from "./volumes";
import { FatalError } from "./wait";
import { isCutOff } from "./walk";

/** What the user asked for, and on whose behalf. */
export interface RolloutRequest {
  spec: EtcdSpec;
  /** Who owns the cluster, such as `organization/project/stack`: two programs must not walk one cluster. */
  owner: string;
  /** What the trust bundle is to hold in the end, PEM, from TrustBundle; absent while that is not known. */
  settled?: string;
  /** The cluster's own CA, PEM; absent with other sources, and in a preview while it has not been made. */
  ca?: string;
  /** Whether certificates that cert-manager does not make are others than those of the last update. */
  renewed?: boolean;
  /** Who carries this out, such as host and process: only one at a time may. Absent: nobody else is expected. */
  holder?: string;
}

export interface Preview {
  operation: OperationKind;
  /** The plan as readable lines; empty where nothing is to be done. */
  plan: string[];
  notes: string[];
}

export interface Outcome extends Record {
  operation: OperationKind;
  /** Revision of the trust bundle in the member template; absent on a plain cluster. */
  trustRevision?: string;
}

const SERVE_STEP = "wait until every member serves its new certificates";

/**
 * What an update would do, read from the live cluster. Throws `Refusal` with everything that speaks against it;
 * changes nothing.
 */
export async function previewRollout(ports: Ports, request: RolloutRequest, previous?: EtcdSpec): Promise<Preview> {
  const skew = await clockSkew(ports);
  try {
    const preview = await previewUpdate(ports, request, previous);
    return skew === undefined ? preview : { ...preview, notes: [skew, ...preview.notes] };
  } catch (error) {
    // Whatever is refused may follow from it.
    if (error instanceof Refusal && skew !== undefined) error.message += `\n${skew}`;
    throw error;
  }
}

async function previewUpdate(ports: Ports, request: RolloutRequest, previous?: EtcdSpec): Promise<Preview> {
  const { spec, owner } = request;
  // What is wrong whatever the cluster looks like comes first.
  const operation = classify(previous, spec);
  const problems = await checkPrerequisites(ports, spec, previous);
  // The kinds that are missing are the next thing to mend; nothing below can be asked without them.
  if (problems.length > 0) throw new Refusal(problems);
  const observed = await observe(ports, spec);
  const observation = await discountEdits(ports, observed, renderingOf(request, observed, observed.trustRevision));
  if (!observation.workload) {
    const traces = previous && !spec.hosts ? await findTraces(ports, spec) : undefined;
    const wrong = [...(traces ? notHere(spec, traces) : []), ...(await checkVolumes(ports, spec))];
    if (wrong.length > 0) throw new Refusal(wrong);
    await demandAuthentication(observation.view, []);
    return { operation: operation.kind, plan: [], notes: traces ? deletedWorkload(spec, traces) : [] };
  }
  const ownership = checkOwnership(spec, owner, observation.workload);
  if (ownership.length > 0) throw new Refusal(ownership);
  const replacement = checkReplacement(spec, observation.workload);
  if (replacement.length > 0) throw new Refusal(replacement);
  await demandAuthentication(observation.view, observation.pods);
  const { steps, notes, gated } = await planUpdate(ports, request, previous, operation, observation);
  if (gated) await refuseUnhealthy(observation, spec);
  const kind = steps.length > 0 && operation.kind === "none" ? "template" : operation.kind;
  return { operation: kind, plan: steps, notes };
}

async function planUpdate(
  ports: Ports,
  request: RolloutRequest,
  previous: EtcdSpec | undefined,
  operation: Operation,
  observation: Observation,
): Promise<{ steps: string[]; notes: string[]; gated: boolean }> {
  const { spec } = request;
  // TrustBundle's row tells of the widening; here it only matters what it leaves behind.
  const trust = spec.tls && request.settled === undefined ? await previewTrust(ports, request) : undefined;
  const settled = request.settled ?? trust?.settled;
  const leaves = await previewLeaves(ports, { spec, ...(previous && { previous }), ...(settled && { settled }) });
  const inBundle = await readBundle(ports, spec);
  const late = trust?.repaired ? undefined : await previewRepair(request, observation, settled, "after");
  const live = unionOfKnown(inBundle, trust?.cas, late?.cas);
  const dropped = await droppedCas(ports, spec, { live, settled, pending: trust?.pending === true, observation });
  const repaired = trust?.repaired ?? late?.after ?? observation;
  const widenedTo = trust?.templateHash ? walkedTo(repaired, trust.templateHash) : repaired;
  const stays = dropped.length > 0 && !(trust?.inPlace ?? inPlace(observation, spec));
  const wide = trust?.pending ? PENDING.wide : stays ? trustRevision(union(live, settled)) : undefined;
  const move = stays ? planFinal(request, widenedTo, wide, { label: "move", ...leaderOf(trust) }) : NO_PLAN;
  const hash = stays && hashOf(renderingOf(request, widenedTo, wide), finalStage(spec));
  const known = settled ?? live;
  const revision = trust?.pending ? PENDING[dropped.length > 0 ? "settled" : "wide"] : known && trustRevision(known);
  const final = planFinal(request, hash ? walkedTo(widenedTo, hash) : widenedTo, revision, {
    ...(dropped.length > 0 && { label: "settle" }),
    ...leaderOf(stays ? move : trust),
  });
  const renewed = leaves.length > 0 || request.renewed === true;
  const serves = stays || (await mustServe(request, operation, observation, { renewed, dropped }));
  const walks = [move, final].map(({ steps }) => steps.map(({ text }) => text));
  const others = restarts(move) || trust?.templateHash !== undefined;
  const version = await planVersion(observation, final, { others, from: previous?.version });
  return {
    steps: [
      ...leaves,
      ...(late ? [...late.adds, ...late.steps] : []),
      ...walks[0]!,
      ...(serves ? [SERVE_STEP] : []),
      ...dropSteps(dropped),
      ...version.before,
      ...walks[1]!,
      ...version.after,
    ],
    notes: [...(late?.notes ?? []), ...version.notes, ...(final.notes.length > 0 ? final.notes : move.notes)],
    // A repair, and leaves that are issued anew, are what makes a cluster healthy that is not.
    gated: (restarts(move) || restarts(final)) && !trust?.repaired && !late?.cas && late?.blocked === undefined,
  };
}

/** What a change of etcd's version takes besides restarts. `others`: members are restarted before the last walk, too. */
async function planVersion(
  { view, pods }: Observation,
  final: Plan,
  { others, from }: { others: boolean; from: string | undefined },
) {
  const { spec } = view;
  const live = await readVersions(view, pods);
  const restarting = restarts(final);
  const problems = restarting ? [...versionProblems(spec, live), ...silenceProblem(spec, live, from)] : [];
  const { before, after } = planVersions(spec, live, restarting);
  if (problems.length === 0 && others && before[0]) problems.push(notPrepared(spec.version, before[0]));
  if (problems.length > 0) throw new Refusal(problems);
  return {
    before: before.map(versionStepText),
    after: after.map(versionStepText),
    notes: versionNotes(spec, live, restarting),
  };
}

function leaderOf(walk: { leader?: string } | undefined): { leader?: string } {
  return walk?.leader ? { leader: walk.leader } : {};
}

interface Trusted {
  live: string | undefined;
  settled: string | undefined;
  /** Whether the CA that will be trusted besides `tls.trustedCAs` is yet to be made. */
  pending: boolean;
  observation: Observation;
}

/** The CAs that the update withdraws in the end, by their subjects. */
async function droppedCas(ports: Ports, spec: EtcdSpec, { live, settled, pending, observation }: Trusted) {
  if (pending) {
    const others = (await readTrustedCas(ports, spec)).join("\n");
    return live && hasTlsMembers(observation) ? subjectsBeyond(live, others) : [];
  }
  const widened = live && settled && hasTlsMembers(observation) ? `${live}\n${settled}` : (settled ?? live);
  return settled && widened ? subjectsBeyond(widened, settled) : [];
}

/**
 * Whether new leaves have to reach members that run TLS already. What cert-manager renewed by itself reaches them in
 * the kubelet's own time, and is nothing to wait for unless a CA is about to be dropped that they may still need.
 */
async function mustServe(
  { spec }: RolloutRequest,
  operation: Operation,
  observation: Observation,
  { renewed, dropped }: { renewed: boolean; dropped: string[] },
): Promise<boolean> {
  if (!spec.tls || !hasTlsMembers(observation)) return false;
  // Adding that was broken off, and goes on under another issuer: some members have leaves of the old one.
  if (operation.kind === "add") return dropped.length > 0;
  if (renewed || operation.kind === "rotate" || (operation.kind === "reissue" && operation.aliases.length > 0)) {
    return true;
  }
  return dropped.length > 0 && (await notServing(observation.view, spec, observation.liveTls)).length > 0;
}

function dropSteps(subjects: string[]): string[] {
  return subjects.map((subject) => `trust bundle: drop ${subject}`);
}

/** A walk that could not start is refused in preview. A hiccup that passes within seconds is no refusal. */
async function refuseUnhealthy({ view }: Observation, spec: EtcdSpec): Promise<void> {
  let reasons: string[] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    if (attempt > 0) await view.ports.clock.sleep(1000);
    const latest = await observe(view.ports, spec);
    const down = plannedPods(spec, latest).filter((pod) => !pod.ready);
    // Those that only have to be registered where they listen: the update begins with that, and then asks the gate.
    if (down.length > 0 && down.every(({ name }) => isCutOffIn(latest, name))) return;
    // One member that is down may be what the update is to mend.
    const verdict = await evaluateGate(view, down.length === 1 ? down[0]?.name : undefined);
    if (verdict.open) return;
    reasons = verdict.reasons;
  }
  throw new Refusal([unhealthy(spec, reasons)]);
}

function isCutOffIn({ view, pods, members }: Observation, name: string): boolean {
  const pod = pods.find((candidate) => candidate.name === name);
  const member = members?.find((candidate) => candidate.name === name);
  return pod !== undefined && member !== undefined && isCutOff(view.spec, pod, member);
}

function unhealthy(spec: EtcdSpec, reasons: string[]): ConfigProblem {
  const look = spec.hosts
    ? `systemctl status ${spec.hosts.service}, journalctl -u ${spec.hosts.service}`
    : "kubectl describe pod, kubectl logs";
  return {
    path: "etcd:name",
    value: spec.name,
    rule: `members cannot be restarted while the cluster is not healthy: ${reasons.join("; ")}`,
    mend: `Mend these members first (${look}), then run the update again; nothing was changed`,
  };
}

/** Carries the spec out on the members that run; nothing to walk where there are none yet. */
export function carryOut(ports: Ports, request: RolloutRequest, previous?: EtcdSpec): Promise<Outcome> {
  return withLease(ports, request.spec, request.holder, (guarded) => carryOutAlone(guarded, request, previous));
}

async function carryOutAlone(ports: Ports, request: RolloutRequest, previous?: EtcdSpec): Promise<Outcome> {
  const { spec, owner, settled } = request;
  const operation = classify(previous, spec);
  const journal = new Journal(ports);
  await refuseForeign(ports, spec, owner);
  await sweepProbes(ports, spec);
  const renewed = await syncLeaves(
    ports,
    { spec, ...(previous && { previous }), ...(settled && { settled }) },
    journal,
  );
  let observation = await observe(ports, spec);
  if (observation.workload) {
    observation = await repairIfNeeded(request, observation, settled, journal);
    const live = await readBundle(ports, spec);
    const dropped = settled && live ? subjectsBeyond(live, settled) : [];
    const stays = dropped.length > 0 && !inPlace(observation, spec);
    if (stays) observation = await move(ports, request, observation, journal);
    const isNew = renewed || request.renewed === true;
    if (stays || (await mustServe(request, operation, observation, { renewed: isNew, dropped }))) {
      await awaitServing(observation.view, spec, observation.liveTls);
      journal.note(SERVE_STEP, "", "CertificateSynced");
    }
    await settle(ports, request, journal, previous?.version);
    if (spec.tls ?? previous?.tls ?? observation.liveTls) await sweepSeeds(ports, spec);
    journal.condition("UpdateDatabase", "every member is where the spec wants it");
  } else if (spec.tls && settled) await writeBundle(ports, spec, settled);
  journal.condition("Successful", `${operation.kind} finished`);
  const bundle = await readBundle(ports, spec);
  return {
    operation: operation.kind,
    ...journal.record(),
    ...(spec.tls && bundle && { trustRevision: trustRevision(bundle) }),
  };
}

async function refuseForeign(ports: Ports, spec: EtcdSpec, owner: string): Promise<void> {
  const workload = await ports.kube.workload(spec);
  const problems = workload ? checkOwnership(spec, owner, workload) : [];
  if (problems.length > 0) throw new Refusal(problems);
}

/**
 * Brings the members to the Secrets of the spec while everything is trusted. As a rule the walk that widened the trust
 * has done it; see `canSeed`.
 */
async function move(
  ports: Ports,
  request: RolloutRequest,
  observation: Observation,
  journal: Journal,
): Promise<Observation> {
  const { spec } = request;
  const bundle = await readBundle(ports, spec);
  const revision = bundle && trustRevision(bundle);
  const plan = planFinal(request, observation, revision, { label: "move" });
  await walk(observation, renderingOf(request, observation, revision), plan, journal, false);
  return observe(ports, spec);
}

/** Withdraws what nobody serves any more from the trust bundle, and walks every member to the spec. */
async function settle(
  ports: Ports,
  request: RolloutRequest,
  journal: Journal,
  previousVersion: string | undefined,
): Promise<void> {
  const { spec, settled } = request;
  const live = await readBundle(ports, spec);
  const dropped = spec.tls && settled && live ? subjectsBeyond(live, settled) : [];
  if (spec.tls && settled && !sameTrust(live, settled)) {
    await writeBundle(ports, spec, settled);
    for (const step of dropSteps(dropped)) journal.note(step, "", "CertificateSynced");
  }
  const bundle = await readBundle(ports, spec);
  const revision = bundle && trustRevision(bundle);
  const label = dropped.length > 0 ? { label: "settle" } : {};
  const observed = await observe(ports, spec);
  const latest = await discountEdits(ports, observed, renderingOf(request, observed, revision));
  const plan = planFinal(request, latest, revision, label);
  const version = await prepareVersion(latest, plan, journal, previousVersion);
  await walk(latest, renderingOf(request, latest, revision), plan, journal, true);
  await settleVersion(latest, version, journal);
  const left = planFinal(request, await observe(ports, spec), revision, {}).steps;
  if (left.length === 0) return spec.tls && pruneBundle(ports, spec);
  const lines = left.map((step) => step.text).join("; ");
  throw new FatalError(`the walk ended, but this is left: ${lines}. Run the update again`);
}

function planFinal(
  request: RolloutRequest,
  observation: Observation,
  revision: string | undefined,
  options: { label?: string; leader?: string },
): Plan {
  return planWalk(observation, renderingOf(request, observation, revision), finalStage(request.spec), options);
}

function renderingOf(
  { spec, owner }: RolloutRequest,
  { liveTls }: Observation,
  revision: string | undefined,
): Rendering {
  const tls = spec.tls ?? liveTls;
  return { spec, owner, ...(tls && { tls }), ...(revision && { trustRevision: revision }) };
}
