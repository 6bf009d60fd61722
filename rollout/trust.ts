import type { CaSpec, EtcdSpec } from "../config/types";
import { PLAIN, stageOf, TEMPLATE_HASH, TRUST_REVISION, trustRevision } from "../manifests";
import type { MemberTls } from "../manifests/types";
import { demandAuthentication } from "./authentication";
import { addStep, addSteps, readBundle, readTrustedCas, subjectsBeyond, union, writeBundle } from "./bundle";
import { learnCa, peekCa, sweepProbes } from "./issuer-ca";
import { Journal, type Record } from "./journal";
import { withLease } from "./lease";
import { previewLeaves } from "./leaves";
import { type Observation, observe } from "./observe";
import { planWalk, walk } from "./passes";
import { NO_PLAN, type Plan } from "./plan";
import type { LivePod, Ports } from "./ports";
import { demandGivenSecrets, issuersOf } from "./preflight";
import { hashOf, type Rendering } from "./render";
import { currentStage, findRepair } from "./repair";
import { type PreviewedRepair, previewRepair } from "./repair-preview";
import { carryOutRepair } from "./repair-walk";
import { demandRights } from "./rights";
import { canSeed, demandSeedRights, movedSecrets, seedSecrets } from "./seeds";
import { settledBundle, subjectOf } from "./source-cas";
import { sameStage } from "./stages";
import { FatalError } from "./wait";

export interface TrustRequest {
  spec: EtcdSpec;
  owner: string;
  /** The cluster's own CA, PEM; absent with other sources, and in a preview while it has not been made. */
  ca?: string;
  /** The spec of the last update, for a preview; absent if the cluster is new. */
  previous?: EtcdSpec;
  /** Who carries this out, such as host and process: only one at a time may. Absent: nobody else is expected. */
  holder?: string;
}

/** Stand for the revisions of a bundle with a CA that the update will make. */
export const PENDING = { wide: "with-the-new-ca", settled: "with-the-new-ca-alone" };

export interface TrustPreview {
  plan: string[];
  notes: string[];
  /** What the bundle will hold in the end, where it can be told without asking an issuer. */
  settled?: string;
  /** Whether something is yet to be added to the bundle, or members are yet to be made to trust it. */
  unfinished: boolean;
  /** Whether a CA of the cluster's own is yet to be made: what it will be is known, and what follows from it. */
  pending?: boolean;
  /** Who is expected to lead after the walk. */
  leader?: string;
  /** Hash of the member template that the walk would leave behind; absent where it would restart nobody. */
  templateHash?: string;
  /** What is found once members that do not trust each other's certificates have been restarted; absent if all do. */
  repaired?: Observation;
  /** CAs that the bundle holds because of that, PEM. */
  cas?: string;
  /** Whether the members will mount the Secrets that the spec names, before the certificates are made. */
  inPlace?: boolean;
}

export interface TrustOutcome extends Record {
  /** What the ConfigMap holds now: every CA that some member or leaf still needs. */
  caBundle: string;
  revision: string;
  /** What it will hold once nothing of the old CA is served any more. */
  settled: string;
}

/** What widening the trust would do; changes nothing. */
export async function previewTrust(ports: Ports, request: TrustRequest): Promise<TrustPreview> {
  const { spec } = request;
  await demandRights(ports, spec);
  await demandGivenSecrets(ports, spec);
  const settled = await settledBundle(ports, request, (ref) => peekCa(ports, spec.namespace, ref));
  const observation = await observe(ports, spec);
  await demandAuthentication(observation.view, observation.pods);
  if (settled === undefined && spec.tls?.ca) return previewPending(ports, request, observation, spec.tls.ca);
  const asks = issuersOf(spec).map((ref) => askStep(ref));
  const repair = await previewRepair(request, observation, settled, "before");
  if (settled === undefined) {
    const note =
      "whether the issuer's CA is new is not known before it is asked; if it is, the members restart once to trust it";
    const unfinished = repair.steps.length > 0 || (await willIssue(ports, request));
    const notes = hasTlsMembers(observation) ? [...repair.notes, note] : [];
    return { plan: [...asks, ...repair.adds, ...repair.steps], notes, unfinished, ...repairedBy(repair) };
  }
  const target = await wideningOf(ports, spec, observation, settled, repair.cas);
  const mounts = await mountsOf(ports, request, repair.after, target.bundle);
  const widening = repair.blocked ? NO_PLAN : planWidening(repair.after, mounts, target, trustRevision(settled));
  if (widening.steps.length > 0 && mounts.moves) await demandSeedRights(ports, spec);
  const found = previewOf(repair.after, mounts, widening, target.revision);
  return {
    ...found,
    ...repairedBy(repair),
    notes: [...repair.notes, ...found.notes],
    plan: [...asks, ...target.adds, ...repair.steps, ...widening.steps.map((step) => step.text)],
    settled,
    unfinished: target.adds.length > 0 || repair.steps.length + widening.steps.length > 0,
  };
}

/** What is left of a repair for the one who previews the rest of the update. */
function repairedBy({ steps, after, cas }: PreviewedRepair): Pick<TrustPreview, "repaired" | "cas"> {
  return { ...(steps.length > 0 && { repaired: after }), ...(cas && { cas }) };
}

/** Whether the update will have leaves issued by an issuer whose CA nobody has seen: it is to be asked before that. */
async function willIssue(ports: Ports, { spec, previous }: TrustRequest): Promise<boolean> {
  const live = await readBundle(ports, spec);
  const steps = await previewLeaves(ports, { spec, ...(previous && { previous }), ...(live && { settled: live }) });
  return steps.length > 0;
}

/** The CA will be made by the same update: that it is new, and so what it takes, is known before it exists. */
async function previewPending(
  ports: Ports,
  request: TrustRequest,
  observation: Observation,
  ca: CaSpec,
): Promise<TrustPreview> {
  const others = (await readTrustedCas(ports, request.spec)).join("\n");
  const live = (await readBundle(ports, request.spec)) ?? "";
  const dropped = subjectsBeyond(live, others);
  const target = { revision: PENDING.wide, dropped };
  const mounts = await mountsOf(ports, request, observation, `${live}\n${others}`);
  const widening = planWidening(observation, mounts, target, dropped.length > 0 ? PENDING.settled : PENDING.wide);
  return {
    ...previewOf(observation, mounts, widening, target.revision),
    plan: [addStep(subjectOf(ca)), ...widening.steps.map((step) => step.text)],
    unfinished: true,
    pending: true,
  };
}

function previewOf(observation: Observation, mounts: Mounts, { notes, steps, leader }: Plan, revision: string) {
  const hash = steps.length > 0 && hashOf(rendering(mounts, revision), currentStage(observation));
  return {
    notes,
    inPlace: steps.length > 0 ? mounts.wanted : inPlace(observation, mounts.request.spec),
    ...(leader && { leader }),
    ...(hash && { templateHash: hash }),
  };
}

/**
 * Widens the trust bundle to every CA that the spec's issuers sign with, keeping what it holds already, and brings the
 * members that run TLS to trust it: they read it when they start. Only then may a leaf of a new CA come into being.
 */
export function widenTrust(ports: Ports, request: TrustRequest): Promise<TrustOutcome> {
  return withLease(ports, request.spec, request.holder, (guarded) => widenAlone(guarded, request));
}

async function widenAlone(ports: Ports, request: TrustRequest): Promise<TrustOutcome> {
  const { spec } = request;
  const journal = new Journal(ports);
  await sweepProbes(ports, spec);
  await demandGivenSecrets(ports, spec);
  const further = (await readTrustedCas(ports, spec)).join("\n");
  const settled = await settledBundle(ports, request, async (ref) => {
    const ca = await learnCa(ports, spec, ref, further);
    journal.note(askStep(ref), "", "CertificateSynced");
    return ca;
  });
  if (settled === undefined) throw new FatalError(`${spec.namespace}/${spec.name}: the CA of its own was not made`);
  let observation = await observe(ports, spec);
  const found = await findRepair(ports, spec, observation, settled);
  if (found?.repair && !found.blocked) {
    observation = await carryOutRepair(request, observation, found.repair, journal);
  }
  const target = await wideningOf(ports, spec, observation, settled, found?.repair?.bundle);
  await writeBundle(ports, spec, target.bundle);
  // Members may be about to serve leaves of a CA that the bundle did not hold when they were asked first.
  observation.view.forgetCredentials();
  for (const step of target.adds) journal.note(step, "", "CertificateSynced");
  const mounts = await mountsOf(ports, request, observation, target.bundle);
  // Members that restart now could not open a connection to anybody: the leaves come first, and then the members.
  const plan = found?.blocked ? NO_PLAN : planWidening(observation, mounts, target, trustRevision(settled));
  if (plan.steps.length > 0 && mounts.moves) await seedSecrets(ports, spec, observation.liveTls);
  await walk(observation, rendering(mounts, target.revision), plan, journal, false);
  return { caBundle: target.bundle, revision: target.revision, settled, ...journal.record() };
}

function askStep({ kind, name }: { kind: string; name: string }): string {
  return `ask ${kind} ${name} for its CA`;
}

/** What members and leaves may still need is kept; a cluster without TLS needs nothing of an older bundle. */
async function wideningOf(ports: Ports, spec: EtcdSpec, observation: Observation, settled: string, repaired?: string) {
  const live = await readBundle(ports, spec);
  const bundle = hasTlsMembers(observation) ? union(live, settled, repaired) : settled;
  return {
    bundle,
    revision: trustRevision(bundle),
    adds: addSteps(bundle, live),
    dropped: subjectsBeyond(bundle, settled),
  };
}

/** Whether any member has TLS material, or would have it after coming back. */
export function hasTlsMembers({ workload, pods }: Observation): boolean {
  if (!workload) return false;
  return [workload.templateAnnotations, ...pods.map((pod) => pod.annotations)].some(hasMaterial);
}

/** What the members of the walk mount. */
interface Mounts {
  request: TrustRequest;
  /** As the members run; with the Secrets that the spec names where they may be brought there now. */
  tls?: MemberTls;
  /** Whether these are others than the template has now, and whether they are what the spec names. */
  moves: boolean;
  wanted: boolean;
}

/** `bundle`: what members will be started with, as far as it is known. */
async function mountsOf(
  ports: Ports,
  request: TrustRequest,
  observation: Observation,
  bundle: string,
): Promise<Mounts> {
  const { liveTls } = observation;
  const { spec } = request;
  const moved = new Map(movedSecrets(spec, liveTls).map(({ alias, secretName }) => [alias, secretName]));
  const moves = moved.size > 0 && !spec.hosts && (await canSeed(ports, spec, observation, bundle));
  const certificates = liveTls?.certificates.map(({ alias, secretName }) => ({
    alias,
    secretName: (moves && moved.get(alias)) || secretName,
  }));
  const tls = liveTls && certificates ? { ...liveTls, certificates } : spec.tls;
  return { request, moves, wanted: moves || moved.size === 0, ...(tls && { tls }) };
}

function rendering({ request: { spec, owner }, tls }: Mounts, revision: string): Rendering {
  return { spec, owner, trustRevision: revision, ...(tls && { tls }) };
}

/**
 * The members stay on the stage that they are on; members that trust the bundle already are left alone, unless they
 * have to come to other Secrets before a CA is dropped that their leaves are of.
 */
function planWidening(
  observation: Observation,
  mounts: Mounts,
  { revision, dropped }: { revision: string; dropped: string[] },
  settled: string,
): Plan {
  if (!hasTlsMembers(observation)) return NO_PLAN;
  const mustMove = dropped.length > 0 && mounts.wanted && !inPlace(observation, mounts.request.spec);
  if (!mustMove && trustsAlready(observation, [revision, settled])) return NO_PLAN;
  return planWalk(observation, rendering(mounts, revision), currentStage(observation), { label: "widen" });
}

/** Whether every member mounts the Secrets that the spec names. Which ones a pod mounts follows from its template. */
export function inPlace({ workload, pods, liveTls }: Observation, spec: EtcdSpec): boolean {
  const hash = workload?.templateAnnotations[TEMPLATE_HASH];
  return movedSecrets(spec, liveTls).length === 0 && pods.every((pod) => pod.annotations[TEMPLATE_HASH] === hash);
}

/**
 * Every member that has TLS material started with the wide bundle or with exactly the CAs that are wanted, and so would
 * one that comes back. Members without any are brought to it by the walk that adds TLS, and need no trust before that.
 */
function trustsAlready({ workload, pods }: Observation, revisions: string[]): boolean {
  const started = [workload?.templateAnnotations ?? {}, ...pods.map((pod) => pod.annotations)].filter(hasMaterial);
  return started.every((annotations) => revisions.includes(annotations[TRUST_REVISION] ?? ""));
}

function hasMaterial(annotations: LivePod["annotations"]): boolean {
  const stage = stageOf(annotations);
  return stage !== undefined && !sameStage(stage, PLAIN);
}
