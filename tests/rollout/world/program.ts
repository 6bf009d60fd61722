import { certificateName, type EtcdSpec, trustBundleName } from "../../../config";
import { finalStage, renderCertificates, renderWorkload } from "../../../manifests";
import {
  carryOut,
  issuersOf,
  type MembershipFacts,
  type Outcome,
  type Ports,
  type Preview,
  previewRollout,
  releaseSecret,
  releaseTrustBundle,
  verifyMembership,
  widenTrust,
} from "../../../rollout";

export const OWNER = "organization/etcd/test";

export interface UpdateResult {
  preview: Preview;
  outcome: Outcome;
  facts: MembershipFacts;
}

/** One `pulumi up`: the resources of an EtcdCluster in the order of their dependencies. */
export async function up(ports: Ports, spec: EtcdSpec, previous: EtcdSpec | undefined): Promise<UpdateResult> {
  const request = { spec, owner: OWNER };
  const preview = await previewRollout(ports, request, previous);
  if (spec.tls) {
    await widenTrust(ports, { ...spec, issuers: issuersOf(spec) });
    for (const certificate of renderCertificates(spec)) await ports.kube.apply(certificate);
  }
  const outcome = await carryOut(ports, request, previous);
  const { trustRevision } = outcome;
  const template = { stage: finalStage(spec), ...(trustRevision && { trustRevision }) };
  await ports.kube.apply(renderWorkload(spec, template, { owner: OWNER }));
  const facts = await verifyMembership(ports, spec);
  if (!spec.tls) await removeTls(ports, spec);
  return { preview, outcome, facts };
}

/** Pulumi deletes what the program no longer declares: Certificates, then their Secrets, then the trust bundle. */
async function removeTls(ports: Ports, spec: EtcdSpec): Promise<void> {
  const { namespace } = spec;
  for (const alias of ["server", "peer", "client"] as const) {
    const name = certificateName(spec, alias);
    await ports.kube.delete("cert-manager.io/v1", "Certificate", namespace, name);
    await releaseSecret(ports, { namespace, secretName: name, certificateName: name });
  }
  await releaseTrustBundle(ports, namespace, trustBundleName(spec));
}
