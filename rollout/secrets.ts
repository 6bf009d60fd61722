import type { KubeObject } from "../manifests/types";
import type { Ports } from "./ports";

/** A Secret that cert-manager fills for one of our Certificates. */
export interface CertificateSecret {
  namespace: string;
  secretName: string;
  certificateName: string;
}

/** Refuses a Secret that is there already and was not made for this Certificate: cert-manager would overwrite it. */
export async function claimSecret(ports: Ports, { namespace, secretName, certificateName }: CertificateSecret) {
  const secret = await ports.kube.get("v1", "Secret", namespace, secretName);
  if (!secret || madeFor(secret) === certificateName) return;
  throw new Error(
    `Secret ${namespace}/${secretName} exists already and was not made for Certificate ${certificateName}; cert-manager would overwrite it. Name another with tls.certificates[].secretName, or delete it`,
  );
}

/** Deletes the Secret that a Certificate left behind; refuses while a pod mounts it, and leaves others' Secrets alone. */
export async function releaseSecret(ports: Ports, { namespace, secretName, certificateName }: CertificateSecret) {
  const secret = await ports.kube.get("v1", "Secret", namespace, secretName);
  if (!secret || madeFor(secret) !== certificateName) return;
  const users = (await ports.kube.list("v1", "Pod", namespace)).filter((pod) => mountsSecret(pod, secretName));
  if (users.length > 0) {
    const names = users.map((pod) => pod.metadata.name).join(", ");
    throw new Error(
      `Secret ${namespace}/${secretName} is kept: ${names} still mounts it. Run the update again once no pod does`,
    );
  }
  await ports.kube.delete("v1", "Secret", namespace, secretName);
}

function madeFor(secret: KubeObject): string | undefined {
  return secret.metadata.annotations?.["cert-manager.io/certificate-name"];
}

function mountsSecret(pod: KubeObject, secretName: string): boolean {
  const { volumes = [] } = pod.spec as { volumes?: VolumeSource[] };
  return volumes.some(
    (volume) =>
      volume.secret?.secretName === secretName ||
      volume.projected?.sources?.some((source) => source.secret?.name === secretName),
  );
}

interface VolumeSource {
  secret?: { secretName?: string };
  projected?: { sources?: { secret?: { name?: string } }[] };
}
