import { CLIENT_PORT, memberHost, PEER_PORT } from "../config/names";
import type { Alias, EtcdSpec } from "../config/types";
import { stageOf } from "../manifests";
import type { MemberTls } from "../manifests/types";
import type { ClientCredentials, LivePod, SecretMaterial } from "./ports";
import { CALL_DEADLINE_MS, type ClusterView } from "./view";
import { waitFor } from "./wait";
import { certificatesOf } from "./x509";

/** Changing any annotation of a pod makes the kubelet look at its mounts now instead of within its sync period. */
const REFRESHED = "pulumi-etcd/secrets-refreshed";

/**
 * Waits until every member serves, on every port that speaks TLS, the leaf that is in its Secret now. etcd reads leaf
 * and key anew for every handshake, so this needs no restart; only the kubelet has to bring the Secret to the pod.
 */
export async function awaitServing(view: ClusterView, spec: EtcdSpec, mounted: MemberTls | undefined): Promise<void> {
  const { clock, kube } = view.ports;
  const started = new Date(clock.now()).toISOString();
  const deadlineMs = spec.rollout.stepTimeoutSeconds * 1000;
  let refreshed = false;
  await waitFor({ clock, deadlineMs, what: "every member to serve its new certificates" }, async () => {
    // Pods that come later start with what is in their Secrets by then.
    for (const pod of refreshed ? [] : await view.pods())
      await kube.annotatePod(spec.namespace, pod.name, { [REFRESHED]: started });
    refreshed = true;
    const stale = await notServing(view, spec, mounted);
    return stale.length === 0 ? { done: undefined } : stale.join("; ");
  });
}

/** Which members serve something else than what is in the Secrets that they mount, one line each. */
export async function notServing(view: ClusterView, spec: EtcdSpec, mounted: MemberTls | undefined): Promise<string[]> {
  const tls = mounted ?? spec.tls;
  const wanted = { server: await leafOf(view, spec, tls, "server"), peer: await leafOf(view, spec, tls, "peer") };
  const shown = await credentialsFor(view, wanted.peer);
  const pods = await view.pods();
  const lines = await Promise.all(
    pods.flatMap((pod) =>
      ports(pod).map((port) => compare(view, spec, pod, port, wanted[port.alias], shown[port.alias])),
    ),
  );
  return lines.filter((line) => line !== undefined);
}

type Port = { number: number; alias: "server" | "peer" };

function ports(pod: LivePod): Port[] {
  const stage = stageOf(pod.annotations);
  return [
    ...(stage && stage.client !== "plain" ? [{ number: CLIENT_PORT, alias: "server" as const }] : []),
    ...(stage?.peer === "tls" ? [{ number: PEER_PORT, alias: "peer" as const }] : []),
  ];
}

async function leafOf(
  view: ClusterView,
  spec: EtcdSpec,
  tls: MemberTls | undefined,
  alias: Alias,
): Promise<SecretMaterial | undefined> {
  const secretName = tls?.certificates.find((certificate) => certificate.alias === alias)?.secretName;
  return secretName === undefined ? undefined : view.ports.kube.secretMaterial(spec.namespace, secretName);
}

/**
 * What is shown to each port. Under TLS 1.3 a member shows its leaf to anybody; a member that ends at TLS 1.2 breaks a
 * handshake off where no certificate, or one that it does not accept, is shown. Where there is none to show, anonymous.
 */
async function credentialsFor(
  view: ClusterView,
  peer: SecretMaterial | undefined,
): Promise<Record<Port["alias"], ClientCredentials | undefined>> {
  const client = await view.loadCredentials().catch(() => undefined);
  // Peers may be let in by name (`peer-cert-allowed-cn`), which the client's certificate does not carry.
  const shown = client && peer && { ...client, certificate: peer.certificate, key: peer.key };
  return { server: client, peer: shown ?? client };
}

async function compare(
  view: ClusterView,
  spec: EtcdSpec,
  pod: LivePod,
  port: Port,
  wanted: SecretMaterial | undefined,
  shown: ClientCredentials | undefined,
): Promise<string | undefined> {
  const address = { namespace: spec.namespace, pod: pod.name, host: memberHost(spec, pod.ordinal) };
  const [leaf] = certificatesOf(wanted?.certificate ?? "");
  try {
    const pem = await view.ports.etcd.servedCertificate(address, port.number, shown, CALL_DEADLINE_MS);
    const [served] = certificatesOf(pem);
    if (served && served.fingerprint256 === leaf?.fingerprint256) return undefined;
    return `${pod.name}:${port.number} serves serial ${served?.serialNumber}, the Secret holds ${leaf?.serialNumber}`;
  } catch (error) {
    return `${pod.name}:${port.number}: ${(error as Error).message}`;
  }
}
