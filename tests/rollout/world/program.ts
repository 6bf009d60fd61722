import { certificateName, type EtcdSpec, trustBundleName } from "../../../config";
import { finalStage, renderCertificates, renderWorkload, trustRevision } from "../../../manifests";
import {
  carryOut,
  issuersOf,
  type MembershipFacts,
  type Outcome,
  type Ports,
  type Preview,
  previewRollout,
  previewTrust,
  releaseSecret,
  releaseTrustBundle,
  verifyMembership,
  widenTrust,
} from "../../../rollout";

export const OWNER = "organization/etcd/test";

/** What Pulumi remembers between updates: a resource's outputs once it was made. */
export interface State {
  /** The spec of the last rollout that succeeded. */
  spec?: EtcdSpec;
  trust?: { spec: EtcdSpec; settled: string };
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
  const request = { spec, owner: OWNER };
  const widening = spec.tls ? await previewTrust(ports, request) : undefined;
  const preview = await previewRollout(ports, request, state.spec);
  const due = widening !== undefined && (await widens(ports, spec, state, widening.settled));
  const widened = due ? await widenTrust(ports, request) : undefined;
  if (widened) state.trust = { spec, settled: widened.settled };
  for (const certificate of renderCertificates(spec)) await ports.kube.apply(certificate);
  const settled = spec.tls && state.trust?.settled;
  const outcome = await carryOut(ports, { ...request, ...(settled && { settled }) }, state.spec);
  state.spec = spec;
  const revision = outcome.trustRevision;
  const template = { stage: finalStage(spec), ...(revision && { trustRevision: revision }) };
  await ports.kube.apply(renderWorkload(spec, template, { owner: OWNER }));
  const facts = await verifyMembership(ports, spec);
  if (!spec.tls) await removeTls(ports, spec, state);
  return {
    planned: [...(due ? (widening?.plan ?? []) : []), ...preview.plan],
    preview,
    recorded: [...(widened?.steps ?? []), ...outcome.steps],
    outcome,
    facts,
  };
}

/** The diff of the trust bundle's resource. */
async function widens(ports: Ports, spec: EtcdSpec, { trust }: State, expected: string | undefined) {
  if (!trust || (await ports.kube.configMapData(spec.namespace, trustBundleName(spec))) === undefined) return true;
  if (expected !== undefined && trustRevision(expected) !== trustRevision(trust.settled)) return true;
  return JSON.stringify(issuersOf(trust.spec)) !== JSON.stringify(issuersOf(spec));
}

/** Pulumi deletes what the program no longer declares: Certificates, then their Secrets, then the trust bundle. */
async function removeTls(ports: Ports, spec: EtcdSpec, state: State): Promise<void> {
  const { namespace } = spec;
  for (const alias of ["server", "peer", "client"] as const) {
    const name = certificateName(spec, alias);
    await ports.kube.delete("cert-manager.io/v1", "Certificate", namespace, name);
    await releaseSecret(ports, { namespace, secretName: name, certificateName: name });
  }
  await releaseTrustBundle(ports, namespace, trustBundleName(spec));
  delete state.trust;
}
