import { eventually } from "./command";
import type { Kube, LiveObject, ObjectSpec } from "./kube";

const API = "cert-manager.io/v1";

/** Namespace in which cert-manager looks for the Secrets that ClusterIssuers name. */
export const clusterResourceNamespace = () => process.env.PULUMI_ETCD_E2E_CERT_MANAGER_NAMESPACE ?? "cert-manager";

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

/** A ClusterIssuer over the CA of an Issuer. */
export async function makeClusterIssuerOf(kube: Kube, namespace: string, issuer: string, name: string): Promise<void> {
  const { data } = await caSecret(kube, issuer, namespace);
  const metadata = { name, namespace: clusterResourceNamespace() };
  await kube.apply({ apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/tls", data });
  await kube.apply(object("ClusterIssuer", name, undefined, { ca: { secretName: name } }));
  await ready(kube, "ClusterIssuer", name);
}

/** Settings that name an issuer for all certificates. */
export function issuerSettings(kind: "Issuer" | "ClusterIssuer", name: string): Record<string, string> {
  return { "etcd:tls.issuerRef.kind": kind, "etcd:tls.issuerRef.name": name };
}

/** The CA certificate, PEM, that an issuer made here signs with. */
export async function caOf(kube: Kube, name: string, namespace = clusterResourceNamespace()): Promise<string> {
  const { data } = await caSecret(kube, name, namespace);
  return Buffer.from(data["tls.crt"] ?? "", "base64").toString();
}

async function caSecret(kube: Kube, name: string, namespace: string): Promise<{ data: Record<string, string> }> {
  const secret = await kube.get("v1", "Secret", name, namespace);
  if (!secret) throw new Error(`there is no CA in Secret ${namespace}/${name}`);
  return { data: secret.data as Record<string, string> };
}

export async function deleteClusterIssuer(kube: Kube, name: string): Promise<void> {
  const namespace = clusterResourceNamespace();
  await kube.delete(API, "ClusterIssuer", name);
  await kube.delete(API, "Certificate", name, namespace);
  await kube.delete(API, "Issuer", `${name}-bootstrap`, namespace);
  await kube.delete("v1", "Secret", name, namespace);
}

/** An Issuer whose CA is an intermediate: its Secret has the root beside it, not in its chain. */
export async function makeIntermediateIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  const root = `${name}-root`;
  await makeIssuer(kube, namespace, root);
  await makeCa(kube, namespace, name, root);
  await kube.apply(object("Issuer", name, namespace, { ca: { secretName: name } }));
  await ready(kube, "Issuer", name, namespace);
}

/** An ACME issuer: none answers for it, so it is never Ready. */
export async function makeAcmeIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  const account = { server: "https://127.0.0.1:1/directory", privateKeySecretRef: { name: `${name}-account` } };
  await kube.apply(object("Issuer", name, namespace, { acme: { ...account, solvers: [{ http01: { ingress: {} } }] } }));
}

/**
 * Takes the CA of an issuer away for good, and returns how to put it back: until then the issuer cannot sign. The
 * Certificate that would make a new one goes, too.
 */
export async function breakIssuer(kube: Kube, namespace: string, name: string): Promise<() => Promise<void>> {
  const { data } = await caSecret(kube, name, namespace);
  await kube.delete(API, "Certificate", name, namespace);
  await kube.delete("v1", "Secret", name, namespace);
  return async () => {
    await kube.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace },
      type: "kubernetes.io/tls",
      data,
    });
    await ready(kube, "Issuer", name, namespace);
  };
}

/** Has cert-manager issue a Certificate anew, as it does by itself when the time for renewal has come. */
export async function renew(kube: Kube, namespace: string, name: string): Promise<void> {
  const read = async () => {
    const found = await kube.get(API, "Certificate", name, namespace);
    const { revision = 0 } = (found?.status ?? {}) as { revision?: number };
    return { issuing: condition(found, "Issuing"), revision };
  };
  const { revision: before } = await read();
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const issuing = { type: "Issuing", status: "True", reason: "Renewing", message: "renewal", lastTransitionTime };
  await kube.apply(
    { apiVersion: API, kind: "Certificate", metadata: { name, namespace }, status: { conditions: [issuing] } },
    { status: true },
  );
  await eventually(`Certificate ${name} to be renewed`, 60_000, async () => {
    const { issuing: now, revision } = await read();
    return !now && revision > before ? true : undefined;
  });
}

/** An Issuer that can never issue: the Secret that it names does not exist. */
export async function makeBrokenIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  await kube.apply(object("Issuer", name, namespace, { ca: { secretName: "no-such-secret" } }));
  await eventually(`Issuer ${name} to be judged`, 60_000, async () => {
    const issuer = await kube.get(API, "Issuer", name, namespace);
    return condition(issuer, "Ready")?.status === "False" ? true : undefined;
  });
}

export async function makeSelfSignedIssuer(kube: Kube, namespace: string, name: string): Promise<void> {
  await kube.apply(object("Issuer", name, namespace, { selfSigned: {} }));
  await ready(kube, "Issuer", name, namespace);
}

async function makeCa(kube: Kube, namespace: string, name: string, issuer = `${name}-bootstrap`): Promise<void> {
  if (issuer === `${name}-bootstrap`) await kube.apply(object("Issuer", issuer, namespace, { selfSigned: {} }));
  await kube.apply(
    object("Certificate", name, namespace, {
      isCA: true,
      commonName: `${namespace} ${name}`,
      secretName: name,
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: { group: "cert-manager.io", kind: "Issuer", name: issuer },
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
    return condition(found, "Ready")?.status === "True" ? true : undefined;
  });
}

interface Condition {
  type: string;
  status: string;
  observedGeneration?: number;
}

export function condition(object: LiveObject | undefined, type: string): Condition | undefined {
  const status = object?.status as { conditions?: Condition[] } | undefined;
  return status?.conditions?.find((candidate) => candidate.type === type);
}
