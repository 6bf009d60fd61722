import { eventually } from "./command";
import type { Kube, LiveObject, ObjectSpec } from "./kube";

const API = "cert-manager.io/v1";

/** Namespace in which cert-manager looks for the Secrets that ClusterIssuers name. */
const clusterResourceNamespace = () => process.env.PULUMI_ETCD_E2E_CERT_MANAGER_NAMESPACE ?? "cert-manager";

/** Makes a CA of its own and a CA Issuer over it in a namespace; the Issuer carries the given name. */
export async function makeIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  await makeCa(kube, namespace, name);
  await kube.apply(object("Issuer", name, namespace, { ca: { secretName: name } }));
  await ready(kube, "Issuer", name, namespace);
}

/** As `makeIssuer`, for every namespace. Take it away again with `deleteClusterIssuer`. */
export async function makeClusterIssuer(kube: Kube, name: string): Promise<void> {
  await makeCa(kube, clusterResourceNamespace(), name);
  await kube.apply(object("ClusterIssuer", name, undefined, { ca: { secretName: name } }));
  await ready(kube, "ClusterIssuer", name);
}

export async function deleteClusterIssuer(kube: Kube, name: string): Promise<void> {
  const namespace = clusterResourceNamespace();
  await kube.delete(API, "ClusterIssuer", name);
  await kube.delete(API, "Certificate", name, namespace);
  await kube.delete(API, "Issuer", `${name}-bootstrap`, namespace);
  await kube.delete("v1", "Secret", name, namespace);
}

/** An Issuer that can never issue: the Secret that it names does not exist. */
export async function makeBrokenIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  await kube.apply(object("Issuer", name, namespace, { ca: { secretName: "no-such-secret" } }));
  await eventually(`Issuer ${name} to be judged`, 60_000, async () => {
    const issuer = await kube.get(API, "Issuer", name, namespace);
    return condition(issuer, "Ready") === "False" ? true : undefined;
  });
}

export async function makeSelfSignedIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  await kube.apply(object("Issuer", name, namespace, { selfSigned: {} }));
  await ready(kube, "Issuer", name, namespace);
}

async function makeCa(kube: Kube, namespace: string, name: string): Promise<void> {
  const bootstrap = `${name}-bootstrap`;
  await kube.apply(object("Issuer", bootstrap, namespace, { selfSigned: {} }));
  await kube.apply(
    object("Certificate", name, namespace, {
      isCA: true,
      commonName: `${namespace} ${name}`,
      secretName: name,
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: { group: "cert-manager.io", kind: "Issuer", name: bootstrap },
    }),
  );
  await ready(kube, "Certificate", name, namespace);
}

function object(kind: string, name: string, namespace: string | undefined, spec: object): ObjectSpec {
  return { apiVersion: API, kind, metadata: { name, ...(namespace && { namespace }) }, spec };
}

async function ready(kube: Kube, kind: string, name: string, namespace?: string): Promise<void> {
  await eventually(`${kind} ${name} to be ready`, 60_000, async () => {
    const found = await kube.get(API, kind, name, namespace);
    return condition(found, "Ready") === "True" ? true : undefined;
  });
}

function condition(object: LiveObject | undefined, type: string): string | undefined {
  const status = object?.status as { conditions?: { type: string; status: string }[] } | undefined;
  return status?.conditions?.find((candidate) => candidate.type === type)?.status;
}
