import { certificateSource } from "../config/source";
import type { ConfigProblem, EtcdSpec, TlsSpec } from "../config/types";
import type { Ports, Right } from "./ports";
import { Refusal } from "./problems";

/** Where every right is written down, as a Role and a ClusterRole. */
export const MANIFEST = "stacks/rbac.yaml";

/** What Pulumi asks for to make an object by server-side apply, to change it, and to wait until it is gone. */
const OBJECT = ["get", "list", "watch", "create", "patch", "delete"];

const WORKLOAD = {
  StatefulSet: { group: "apps", resource: "statefulsets" },
  PetSet: { group: "apps.k8s.appscode.com", resource: "petsets" },
} as const;

/** Everything that the engine and Pulumi's own resources ask of Kubernetes to carry a spec out. */
export function neededRights(spec: EtcdSpec): Right[] {
  const { namespace, workload, tls } = spec;
  if (spec.hosts) return [];
  const { group, resource } = WORKLOAD[workload.kind];
  const here = (apiGroup: string, plural: string, verbs: string[]) =>
    verbs.map((verb) => ({ group: apiGroup, resource: plural, verb, namespace }));
  return [
    ...(spec.createNamespace ? cluster("", "namespaces", OBJECT) : []),
    ...here("", "services", OBJECT),
    ...here("policy", "poddisruptionbudgets", OBJECT),
    ...here(group, resource, OBJECT),
    ...here("", "pods", ["get", "list", "patch"]),
    ...here("", "pods/eviction", ["create"]),
    ...here("", "pods/portforward", ["get", "create"]),
    ...here("", "persistentvolumeclaims", ["get", "patch"]),
    ...here("coordination.k8s.io", "leases", ["get", "create", "update", "delete"]),
    ...(tls ? here("", "configmaps", ["get", "create", "patch", "delete"]) : []),
    ...here("", "secrets", secretVerbs(spec)),
    ...(tls && certificateSource(tls) === "issuer" ? certManagerRights(spec) : []),
  ];
}

/** Secrets that cert-manager does not write are written by us. */
function secretVerbs({ tls, auth }: EtcdSpec): string[] {
  if (!tls) return auth ? ["get"] : [];
  return ["get", "list", "delete", ...(certificateSource(tls) === "issuer" ? [] : ["create", "patch"])];
}

function certManagerRights(spec: EtcdSpec): Right[] {
  const here = (resource: string, verbs: string[]) =>
    verbs.map((verb) => ({ group: "cert-manager.io", resource, verb, namespace: spec.namespace }));
  return [
    ...here("certificates", OBJECT),
    ...here("certificates/status", ["update"]),
    ...here("certificaterequests", ["list"]),
    ...issuerRights(spec),
  ];
}

/** An issuer of a kind that the spec does not name is looked for only to say where a missing one is. */
function issuerRights({ namespace, tls }: EtcdSpec): Right[] {
  const kinds = new Set((tls?.certificates ?? []).map(({ issuerRef: ref }) => ref && `${ref.apiGroup} ${ref.kind}`));
  return [
    ...(kinds.has("cert-manager.io Issuer")
      ? [{ group: "cert-manager.io", resource: "issuers", verb: "get", namespace }]
      : []),
    ...(kinds.has("cert-manager.io ClusterIssuer") ? cluster("cert-manager.io", "clusterissuers", ["get"]) : []),
  ];
}

function cluster(group: string, resource: string, verbs: string[]): Right[] {
  return verbs.map((verb) => ({ group, resource, verb }));
}

/**
 * The rights that are missing, in one problem: half-way through a walk is no time to find out. `former`: TLS that the
 * cluster comes from, whose objects go in the end.
 */
export async function checkRights(ports: Ports, spec: EtcdSpec, former?: TlsSpec): Promise<ConfigProblem[]> {
  const needed = [...neededRights(spec), ...(former ? neededRights({ ...spec, tls: former }) : [])];
  const distinct = new Map(needed.map((right) => [JSON.stringify(right), right]));
  const problem = missingRightsProblem(spec.namespace, await ports.kube.missingRights([...distinct.values()]));
  return problem ? [problem] : [];
}

export function missingRightsProblem(namespace: string, missing: Right[]): ConfigProblem | undefined {
  if (missing.length === 0) return undefined;
  return {
    path: "etcd:namespace",
    value: namespace,
    rule: `the user of the kubeconfig context may not ${describe(missing)}`,
    mend: `Grant it as ${MANIFEST} of pulumi-etcd does, or use another context; nothing was changed`,
  };
}

/** As `checkRights`, for what comes before all else. Throws `Refusal`. */
export async function demandRights(ports: Ports, spec: EtcdSpec): Promise<void> {
  const problems = await checkRights(ports, spec);
  if (problems.length > 0) throw new Refusal(problems);
}

/** `create pods/eviction; get, delete secrets`: the verbs of one resource together. */
function describe(rights: Right[]): string {
  const nameOf = ({ group, resource, namespace }: Right) => {
    const [plural, subresource] = resource.split("/");
    const name = [group ? `${plural}.${group}` : plural, subresource].filter(Boolean).join("/");
    return namespace === undefined ? `${name} in the whole cluster` : name;
  };
  const verbs = new Map<string, string[]>();
  for (const right of rights) verbs.set(nameOf(right), [...(verbs.get(nameOf(right)) ?? []), right.verb]);
  return [...verbs].map(([name, list]) => `${list.join(", ")} ${name}`).join("; ");
}
