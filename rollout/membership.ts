import { clientServiceName, clientUrl, memberHost, memberName, peerUrl, trustBundleName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { finalStage } from "../manifests";
import { evaluateGate } from "./gate";
import { peerScheme } from "./plan";
import type { LivePod, MemberAddress, Ports } from "./ports";
import { CALL_DEADLINE_MS, ClusterView } from "./view";
import { waitFor } from "./wait";

export interface MemberFacts {
  name: string;
  id: string;
  peerUrls: string[];
  clientUrls: string[];
}

/** What is true of the cluster once it is verified. */
export interface MembershipFacts {
  endpoints: string[];
  members: MemberFacts[];
  /** Secret with the client certificate (`tls.crt`, `tls.key`); empty on a plain cluster. */
  clientSecretName: string;
  /** CA certificates that clients should trust, PEM; empty on a plain cluster. */
  caBundle: string;
}

/**
 * Waits until the cluster is what the spec says, seen from outside: every member answers over the intended scheme, is
 * registered under the intended URLs, and nobody gets in another way. Throws `DeadlineError` with what is wrong.
 */
export async function verifyMembership(ports: Ports, spec: EtcdSpec): Promise<MembershipFacts> {
  const view = new ClusterView(ports, spec, spec.tls);
  const deadlineMs = spec.rollout.stepTimeoutSeconds * 1000;
  return waitFor({ clock: ports.clock, deadlineMs, what: "the members to be verified", intervalMs: 500 }, async () => {
    view.forgetCredentials();
    const { reasons, facts } = await inspectMembership(view);
    return reasons.length === 0 && facts ? { done: facts } : reasons.join("; ");
  });
}

/** One look: everything in which the cluster differs from its spec. */
export async function inspectMembership(view: ClusterView): Promise<{ reasons: string[]; facts?: MembershipFacts }> {
  const { spec } = view;
  const verdict = await evaluateGate(view);
  if (!verdict.open) return { reasons: verdict.reasons };
  const pods = await view.pods();
  const workload = await view.ports.kube.workload(spec);
  const reasons = pods
    .filter(({ revision }) => workload && revision !== workload.updateRevision)
    .map(({ name }) => `${name}: was made from another template than the workload has now; run the update again`);
  for (let ordinal = 0; ordinal < spec.replicas; ordinal++) {
    const name = memberName(spec, ordinal);
    const member = verdict.members.find((candidate) => candidate.name === name);
    const wanted = peerUrl(spec, ordinal, peerScheme(finalStage(spec)));
    if (!member) reasons.push(`${name}: is not in the member list`);
    else if (member.peerUrls.join() !== wanted) {
      reasons.push(`${name}: is registered under ${member.peerUrls.join(" and ")} instead of ${wanted}`);
    }
  }
  const access = await Promise.all(pods.map((pod) => checkAccess(view, pod)));
  reasons.push(...access.flat());
  const members = verdict.members.map(({ name, id, peerUrls, clientUrls }) => ({ name, id, peerUrls, clientUrls }));
  return {
    reasons,
    facts: await describe(
      view,
      members.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ),
  };
}

interface Attempt {
  what: string;
  address: MemberAddress;
  admitted: boolean;
}

/** Whether a member lets in who should get in, and nobody else. */
async function checkAccess(view: ClusterView, pod: LivePod): Promise<string[]> {
  const reasons = await Promise.all(
    (await attempts(view, pod)).map(async ({ address, what, admitted }) => {
      const outcome = await view.ports.etcd.probe(address, CALL_DEADLINE_MS);
      if (outcome === (admitted ? "accepted" : "refused")) return [];
      return [`${pod.name}: ${what} is ${outcome}, and should be ${admitted ? "accepted" : "refused"}`];
    }),
  );
  return reasons.flat();
}

async function attempts(view: ClusterView, pod: LivePod): Promise<Attempt[]> {
  const { spec } = view;
  const base = { namespace: spec.namespace, pod: pod.name, host: memberHost(spec, pod.ordinal) };
  const plaintext: Attempt = {
    what: "plaintext",
    address: { ...base, scheme: "http" },
    admitted: finalStage(spec).client !== "tls",
  };
  if (!spec.tls) return [plaintext];
  const { caBundle } = await view.loadCredentials();
  const anonymous: Attempt = {
    what: "TLS without a client certificate",
    address: { ...base, scheme: "https", credentials: { caBundle } },
    admitted: spec.tls.client.auth === "none",
  };
  return [plaintext, anonymous];
}

async function describe(view: ClusterView, members: MemberFacts[]): Promise<MembershipFacts> {
  const { spec, ports } = view;
  const scheme = spec.tls ? "https" : "http";
  const service = `${scheme}://${clientServiceName(spec)}.${spec.namespace}.svc.${spec.clusterDomain}:2379`;
  const bundle = spec.tls && (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"];
  return {
    endpoints: [...(spec.hosts ? [] : [service]), ...members.map((_, ordinal) => clientUrl(spec, ordinal, scheme))],
    members,
    clientSecretName: spec.tls?.certificates.find((certificate) => certificate.alias === "client")?.secretName ?? "",
    caBundle: bundle ?? "",
  };
}
