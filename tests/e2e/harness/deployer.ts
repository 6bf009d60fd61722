import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { repository } from "./environment";
import { clusterResourceNamespace } from "./issuers";
import type { Kube, ObjectSpec } from "./kube";

/** The rights that the product says it needs: it is run with these and no others. */
export const MANIFEST = join(repository, "stacks", "rbac.yaml");

const NAME = "pulumi-etcd";
const RBAC = "rbac.authorization.k8s.io/v1";

/** Access to the cluster as the service account of the manifest, and to the namespace alone; returns its path. */
export async function deployerKubeconfig(kube: Kube, namespace: string, folder: string): Promise<string> {
  for (const object of deployerObjects(namespace)) await kube.apply(object);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "deployer.kubeconfig");
  writeFileSync(path, kubeconfigFor(kube, await kube.token(NAME, namespace)), { mode: 0o600 });
  return path;
}

/** The manifest for one namespace. What is the whole cluster's goes by the namespace's name. */
export function deployerObjects(namespace: string): ObjectSpec[] {
  const objects = parseAllDocuments(readFileSync(MANIFEST, "utf8")).map((document) => document.toJS() as ObjectSpec);
  return objects.map((object) => {
    const isClusterWide = object.metadata.namespace === undefined;
    const subjects = object.subjects as { namespace: string }[] | undefined;
    return {
      ...object,
      metadata: isClusterWide ? { name: namespace } : { ...object.metadata, namespace },
      ...(subjects && { subjects: subjects.map((subject) => ({ ...subject, namespace })) }),
      ...(isClusterWide && subjects && { roleRef: { ...(object.roleRef as object), name: namespace } }),
    };
  });
}

/** Takes away what is outside of the namespace. */
export async function revokeDeployer(kube: Kube, namespace: string): Promise<void> {
  await kube.delete(RBAC, "ClusterRoleBinding", namespace);
  await kube.delete(RBAC, "ClusterRole", namespace);
}

/** Lets the deployer read the one Secret with the CA of a ClusterIssuer; returns how to take that back. */
export async function mayReadCa(kube: Kube, namespace: string, secret: string): Promise<() => Promise<void>> {
  const metadata = { name: `${namespace}-${secret}`, namespace: clusterResourceNamespace() };
  const rules = [{ apiGroups: [""], resources: ["secrets"], resourceNames: [secret], verbs: ["get"] }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name };
  const subjects = [{ kind: "ServiceAccount", name: NAME, namespace }];
  await kube.apply({ apiVersion: RBAC, kind: "Role", metadata, rules });
  await kube.apply({ apiVersion: RBAC, kind: "RoleBinding", metadata, roleRef, subjects });
  return async () => {
    await kube.delete(RBAC, "RoleBinding", metadata.name, metadata.namespace);
    await kube.delete(RBAC, "Role", metadata.name, metadata.namespace);
  };
}

function kubeconfigFor(kube: Kube, token: string): string {
  const given = kube.config.getCurrentCluster();
  if (!given) throw new Error(`${kube.kubeconfig} names no cluster`);
  const authority = given.caData ?? (given.caFile && readFileSync(given.caFile).toString("base64"));
  const cluster = { server: given.server, ...(authority && { "certificate-authority-data": authority }) };
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "cluster", cluster }],
      users: [{ name: NAME, user: { token } }],
      contexts: [{ name: NAME, context: { cluster: "cluster", user: NAME } }],
      "current-context": NAME,
    },
    undefined,
    2,
  );
}
