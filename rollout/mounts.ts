import type { KubeObject } from "../manifests/types";
import { MADE_FOR } from "./leaf-secret";
import type { Ports } from "./ports";
import { waitFor } from "./wait";

/** How long something that is to be deleted may still be mounted. */
const RELEASE_DEADLINE_MS = 120_000;

/** A Secret that holds one of our certificates, whoever fills it. */
export interface CertificateSecret {
  namespace: string;
  secretName: string;
  certificateName: string;
}

/** Refuses a Secret that is there already and was not made for this certificate: it would be overwritten. */
export async function claimSecret(ports: Ports, { namespace, secretName, certificateName }: CertificateSecret) {
  const secret = await ports.kube.get("v1", "Secret", namespace, secretName);
  if (!secret || madeFor(secret) === certificateName) return;
  throw new Error(
    `Secret ${namespace}/${secretName} exists already and was not made for the certificate ${certificateName}; it would be overwritten. Name another with tls.certificates[].secretName, or delete it`,
  );
}

/** Deletes the Secret that a Certificate left behind, once no member mounts it; leaves others' Secrets alone. */
export async function releaseSecret(ports: Ports, { namespace, secretName, certificateName }: CertificateSecret) {
  const secret = await ports.kube.get("v1", "Secret", namespace, secretName);
  if (!secret || madeFor(secret) !== certificateName) return;
  await untilUnmounted(ports, namespace, `Secret ${secretName}`, (volume) => secretsOf(volume).includes(secretName));
  await ports.kube.delete("v1", "Secret", namespace, secretName);
}

/** Deletes the trust bundle once no member mounts it. */
export async function releaseTrustBundle(ports: Ports, namespace: string, name: string) {
  await untilUnmounted(ports, namespace, `ConfigMap ${name}`, (volume) => volume.configMap?.name === name);
  await ports.kube.delete("v1", "ConfigMap", namespace, name);
}

/**
 * Members of a workload that was just deleted go within seconds; others would lose what they need to start again.
 * Whoever else mounts it is told of: nothing answers to what it holds any more. Finished pods have no use for it.
 */
async function untilUnmounted(
  ports: Ports,
  namespace: string,
  what: string,
  mounts: (volume: Volume) => boolean,
): Promise<void> {
  await waitFor({ clock: ports.clock, deadlineMs: RELEASE_DEADLINE_MS, what: `${what} to be unused` }, async () => {
    const pods = await ports.kube.list("v1", "Pod", namespace);
    const users = pods.filter((pod) => !isTerminating(pod) && !isFinished(pod) && volumesOf(pod).some(mounts));
    const members = users.filter(isMember);
    if (members.length > 0)
      return `${named(members)} still mounts it; it is kept. Run the update again once no member does`;
    if (users.length > 0)
      ports.report.step({
        step: `delete ${what}, although ${named(users)} still mounts it: pods that mount it do not start again`,
      });
    return { done: undefined };
  });
}

function madeFor(secret: KubeObject): string | undefined {
  const { annotations = {} } = secret.metadata;
  return annotations["cert-manager.io/certificate-name"] || annotations[MADE_FOR];
}

function named(pods: KubeObject[]): string {
  return pods.map(({ metadata }) => metadata.name).join(", ");
}

/** Of any cluster of ours: two may share what they mount. */
function isMember({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels["app.kubernetes.io/name"] === "etcd" && labels["app.kubernetes.io/component"] === "member";
}

function isFinished({ status }: KubeObject): boolean {
  return ["Succeeded", "Failed"].includes((status as { phase?: string } | undefined)?.phase ?? "");
}

function isTerminating(pod: KubeObject): boolean {
  return "deletionTimestamp" in pod.metadata;
}

function volumesOf(pod: KubeObject): Volume[] {
  return (pod.spec as { volumes?: Volume[] }).volumes ?? [];
}

function secretsOf(volume: Volume): (string | undefined)[] {
  return [volume.secret?.secretName, ...(volume.projected?.sources ?? []).map((source) => source.secret?.name)];
}

interface Volume {
  secret?: { secretName?: string };
  configMap?: { name?: string };
  projected?: { sources?: { secret?: { name?: string } }[] };
}
