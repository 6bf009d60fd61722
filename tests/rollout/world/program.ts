import { issuedFor } from "../../../components/issued-for";
import { same } from "../../../components/same";
import { type EtcdSpec, trustBundleName } from "../../../config";
import { finalStage, renderWorkload, trustRevision } from "../../../manifests";
import {
  carryOut,
  type MembershipFacts,
  type Outcome,
  type Ports,
  type Preview,
  previewRollout,
  previewTrust,
  releaseTrustBundle,
  type TrustPreview,
  verifyMembership,
  widenTrust,
} from "../../../rollout";
import { readBundle } from "../../../rollout/bundle";
import { OwnCa } from "./own-ca";
import { CertificateRows, leavesOf } from "./rows";

export const OWNER = "organization/etcd/test";

/** What Pulumi remembers between updates: a resource's outputs once it was made. */
export interface State {
  /** The spec of the last rollout that succeeded, and the leaves that it was told of: cert-manager's are not. */
  spec?: EtcdSpec;
  leaves?: string;
  trust?: { spec: EtcdSpec; ca: string | undefined; settled: string };
  readonly ownCa: OwnCa;
  readonly rows: CertificateRows;
}

export function nothingYet(): State {
  return { ownCa: new OwnCa(), rows: new CertificateRows() };
}

export interface UpdateResult {
  /** What preview printed, and what was recorded: of the widening and of the rollout. */
  planned: string[];
  preview: Preview;
  recorded: string[];
  outcome: Outcome;
  facts: MembershipFacts;
}

/** One `pulumi up`: the resources of an EtcdCluster in the order of their dependencies. */
export async function up(ports: Ports, spec: EtcdSpec, state: State): Promise<UpdateResult> {
  const { due, planned, preview } = await previewUpdate(ports, spec, state);
  const ca = state.ownCa.makeCa(spec.tls);
  const request = { spec, owner: OWNER, ...(ca && { ca }) };
  const widened = due ? await widenTrust(ports, request) : undefined;
  if (widened) state.trust = { spec, ca, settled: widened.settled };
  await state.rows.make(ports, spec, state.ownCa);
  const settled = spec.tls && state.trust?.settled;
  const leaves = await leavesOf(ports, spec, state.ownCa);
  const renewed = leaves !== "" && leaves !== state.leaves;
  const outcome = await carryOut(ports, { ...request, renewed, ...(settled && { settled }) }, state.spec);
  Object.assign(state, { spec, leaves });
  const revision = outcome.trustRevision;
  const template = { stage: finalStage(spec), ...(revision && { trustRevision: revision }) };
  await ports.kube.apply(renderWorkload(spec, template, { owner: OWNER }));
  const facts = await verifyMembership(ports, spec);
  await dropUndeclared(ports, spec, state);
  const recorded = [...(widened?.steps ?? []), ...outcome.steps];
  return { planned, preview, recorded, outcome, facts };
}

/** `pulumi preview`: what is not made yet is not known. */
async function previewUpdate(ports: Ports, spec: EtcdSpec, state: State) {
  const ca = state.ownCa.known(spec.tls);
  const request = { spec, owner: OWNER, ...(ca && { ca }) };
  const previous = state.trust?.spec;
  const widening = spec.tls ? await previewTrust(ports, { ...request, ...(previous && { previous }) }) : undefined;
  await state.rows.check(ports, spec);
  const leaves = await leavesOf(ports, spec, state.ownCa);
  const renewed = leaves !== "" && leaves !== state.leaves;
  const preview = await previewRollout(ports, { ...request, renewed }, state.spec);
  const due = widening !== undefined && (await widens(ports, spec, state, widening));
  return { due, preview, planned: [...(due ? widening.plan : []), ...preview.plan] };
}

/** The diff of the trust bundle's resource. */
async function widens(ports: Ports, spec: EtcdSpec, { trust, ownCa }: State, preview: TrustPreview) {
  if (!trust || preview.unfinished || (await readBundle(ports, spec)) === undefined) return true;
  const { settled: expected } = preview;
  if (expected !== undefined && trustRevision(expected) !== trustRevision(trust.settled)) return true;
  return trust.ca !== ownCa.known(spec.tls) || !same(issuedFor(trust.spec), issuedFor(spec));
}

/** Pulumi deletes what the program no longer declares: Certificates, then Secrets, then the trust bundle. */
async function dropUndeclared(ports: Ports, spec: EtcdSpec, state: State): Promise<void> {
  await state.rows.drop(ports, spec);
  state.ownCa.forget(spec.tls);
  if (spec.tls || !state.trust) return;
  await releaseTrustBundle(ports, spec.namespace, trustBundleName(spec));
  delete state.trust;
}
