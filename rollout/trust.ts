import type { EtcdSpec } from "../config/types";
import { PLAIN, stageOf, TRUST_REVISION, trustRevision } from "../manifests";
import type { Stage } from "../manifests/types";
import { demandAuthentication } from "./authentication";
import { readBundle, readTrustedCas, sameTrust, settledBundle, subjectsBeyond, union, writeBundle } from "./bundle";
import { learnCa, peekCa } from "./issuer-ca";
import { Journal, type Record } from "./journal";
import { withLease } from "./lease";
import { type Observation, observe } from "./observe";
import { planWalk, walk } from "./passes";
import { NO_PLAN, type Plan } from "./plan";
import type { Ports } from "./ports";
import { issuersOf } from "./preflight";
import { hashOf } from "./render";
import { demandRights } from "./rights";
import { sameStage } from "./stages";

export interface TrustRequest {
  spec: EtcdSpec;
  owner: string;
  /** Who carries this out, such as host and process: only one at a time may. Absent: nobody else is expected. */
  holder?: string;
}

export interface TrustPreview {
  plan: string[];
  notes: string[];
  /** What the bundle will hold in the end, where it can be told without asking an issuer. */
  settled?: string;
  /** Who is expected to lead after the walk. */
  leader?: string;
  /** Hash of the member template that the walk would leave behind; absent where it would restart nobody. */
  templateHash?: string;
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
  const issuers = issuersOf(spec);
  const settled = await settledBundle(ports, spec, issuers, (ref) => peekCa(ports, spec.namespace, ref));
  const observation = await observe(ports, spec);
  await demandAuthentication(observation.view, observation.pods);
  const asks = issuers.map((ref) => askStep(ref));
  if (settled === undefined) {
    const note =
      "whether the issuer's CA is new is not known before it is asked; if it is, the members restart once to trust it";
    return { plan: asks, notes: hasTlsMembers(observation) ? [note] : [] };
  }
  const target = await wideningOf(ports, spec, observation, settled);
  const walkPlan = planWidening(observation, request, target.bundle, settled);
  const hash =
    walkPlan.steps.length > 0 && hashOf(rendering(observation, request, target.bundle), currentStage(observation));
  return {
    plan: [...asks, ...addSteps(target.added), ...walkPlan.steps.map((step) => step.text)],
    notes: walkPlan.notes,
    settled,
    ...(walkPlan.leader && { leader: walkPlan.leader }),
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
  const further = (await readTrustedCas(ports, spec)).join("\n");
  const settled = await settledBundle(ports, spec, issuersOf(spec), async (ref) => {
    const ca = await learnCa(ports, spec, ref, further);
    journal.note(askStep(ref), "", "CertificateSynced");
    return ca;
  });
  if (settled === undefined) throw new Error("the issuers were asked, and their CAs are not known");
  const observation = await observe(ports, spec);
  const { bundle, added } = await wideningOf(ports, spec, observation, settled);
  await writeBundle(ports, spec, bundle);
  for (const step of addSteps(added)) journal.note(step, "", "CertificateSynced");
  const plan = planWidening(observation, request, bundle, settled);
  await walk(observation, rendering(observation, request, bundle), plan, journal, false);
  return { caBundle: bundle, revision: trustRevision(bundle), settled, ...journal.record() };
}

function askStep({ kind, name }: { kind: string; name: string }): string {
  return `ask ${kind} ${name} for its CA`;
}

function addSteps(subjects: string[]): string[] {
  return subjects.map((subject) => `trust bundle: add ${subject}`);
}

/** What members and leaves may still need is kept; a cluster without TLS needs nothing of an older bundle. */
async function wideningOf(ports: Ports, spec: EtcdSpec, observation: Observation, settled: string) {
  const live = await readBundle(ports, spec);
  const bundle = hasTlsMembers(observation) ? union(live, settled) : settled;
  return { bundle, added: sameTrust(live, bundle) ? [] : subjectsBeyond(bundle, live) };
}

/** Whether any member has TLS material, or would have it after coming back. */
export function hasTlsMembers({ workload, pods }: Observation): boolean {
  if (!workload) return false;
  const stages = [workload.templateAnnotations, ...pods.map((pod) => pod.annotations)].map(stageOf);
  return stages.some((stage) => stage && !sameStage(stage, PLAIN));
}

function rendering(observation: Observation, { spec, owner }: TrustRequest, bundle: string) {
  const tls = observation.liveTls ?? spec.tls;
  return { spec, owner, trustRevision: trustRevision(bundle), ...(tls && { tls }) };
}

/** The members stay on the stage that they are on; members that trust the bundle already are left alone. */
function planWidening(observation: Observation, request: TrustRequest, bundle: string, settled: string): Plan {
  if (!hasTlsMembers(observation) || trustsAlready(observation, [bundle, settled])) return NO_PLAN;
  return planWalk(observation, rendering(observation, request, bundle), currentStage(observation), { label: "widen" });
}

function currentStage({ workload }: Observation): Stage {
  return stageOf(workload?.templateAnnotations ?? {}) ?? PLAIN;
}

/** Every member started with the wide bundle or with exactly the CAs that are wanted, and so would one that comes back. */
function trustsAlready({ workload, pods }: Observation, bundles: string[]): boolean {
  const revisions = bundles.map(trustRevision);
  return [workload?.templateAnnotations ?? {}, ...pods.map((pod) => pod.annotations)].every((annotations) =>
    revisions.includes(annotations[TRUST_REVISION] ?? ""),
  );
}
