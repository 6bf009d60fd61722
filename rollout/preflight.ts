import type { ConfigProblem, EtcdSpec, IssuerRef } from "../config/types";
import { OWNER } from "../manifests";
import { notReady } from "./certificate-status";
import { checkGivenSecrets } from "./given-secrets";
import type { LiveIssuer, LiveWorkload, Ports } from "./ports";
import { Refusal } from "./problems";
import { checkRights } from "./rights";

const WORKLOAD_API = { StatefulSet: "apps/v1", PetSet: "apps.k8s.appscode.com/v1" } as const;

/**
 * Whether the Kubernetes cluster can carry the spec out at all: it answers, it serves the kinds that are needed, and
 * the issuers exist and can issue. Returns every problem that was found.
 */
export async function checkPrerequisites(ports: Ports, spec: EtcdSpec, previous?: EtcdSpec): Promise<ConfigProblem[]> {
  await ports.kube.ping();
  // Hosts need neither rights nor kinds nor issuers.
  if (spec.hosts) return [];
  // The way out of TLS, or of a source of certificates, takes its rights as well.
  const rights = await checkRights(ports, spec, previous?.tls);
  if (rights.length > 0) return rights;
  const problems = await checkWorkloadKind(ports, spec);
  if (!spec.tls || spec.tls.ca) return problems;
  if (spec.tls.secrets) return [...problems, ...(await checkGivenSecrets(ports, spec))];
  if (!(await ports.kube.serves("cert-manager.io/v1", "Certificate"))) {
    return [...problems, noCertManager(spec)];
  }
  const issuers = await Promise.all(distinctIssuers(spec).map((found) => checkIssuer(ports, spec, found)));
  return [...problems, ...issuers.flat()];
}

/** The issuers' references alone, each once. */
export function issuersOf(spec: EtcdSpec): IssuerRef[] {
  return distinctIssuers(spec).map(({ ref }) => ref);
}

async function checkWorkloadKind(ports: Ports, spec: EtcdSpec): Promise<ConfigProblem[]> {
  const { kind } = spec.workload;
  if (await ports.kube.serves(WORKLOAD_API[kind], kind)) return [];
  return [
    {
      path: "etcd:workload",
      value: kind,
      rule: `the cluster does not serve ${WORKLOAD_API[kind]} ${kind}: its CustomResourceDefinition is not installed`,
      mend: "Install KubeDB's PetSet operator with its CRDs, or use the workload StatefulSet",
    },
  ];
}

function noCertManager(spec: EtcdSpec): ConfigProblem {
  return {
    path: "etcd:tls.issuerRef",
    value: spec.tls?.issuerRef?.name,
    rule: "the cluster does not serve cert-manager.io/v1: cert-manager is not installed",
    mend: "Install cert-manager with its CRDs, or take etcd:tls away",
  };
}

interface NamedIssuer {
  path: string;
  ref: IssuerRef;
}

/** Every issuer that the spec names, each once, with the first config path that names it. */
export function distinctIssuers(spec: EtcdSpec): NamedIssuer[] {
  // On hosts the certificates are handed in.
  if (spec.hosts) return [];
  const all = [
    ...named("etcd:tls.issuerRef", spec.tls?.issuerRef),
    ...(spec.tls?.certificates ?? []).flatMap(({ alias, issuerRef }) =>
      named(`etcd:tls.certificates[${alias}].issuerRef`, issuerRef),
    ),
  ];
  return [...new Map(all.reverse().map((named) => [JSON.stringify(named.ref), named])).values()].reverse();
}

function named(path: string, ref: IssuerRef | undefined): NamedIssuer[] {
  return ref ? [{ path, ref }] : [];
}

/** As `checkGivenSecrets`, for what comes before all else. Throws `Refusal`. */
export async function demandGivenSecrets(ports: Ports, spec: EtcdSpec): Promise<void> {
  const problems = await checkGivenSecrets(ports, spec);
  if (problems.length > 0) throw new Refusal(problems);
}

async function checkIssuer(ports: Ports, spec: EtcdSpec, { path, ref }: NamedIssuer): Promise<ConfigProblem[]> {
  if (ref.apiGroup !== "cert-manager.io") return [];
  const issuer = await ports.kube.issuer(ref.kind, spec.namespace, ref.name, ref.apiGroup);
  const label = ref.kind === "Issuer" ? `Issuer ${spec.namespace}/${ref.name}` : `ClusterIssuer ${ref.name}`;
  if (!issuer) return [await missingIssuer(ports, spec, path, ref, label)];
  const rule = unusable(issuer, label, (spec.tls?.trustedCAs ?? []).length > 0);
  if (!rule) return [];
  return [{ path: `${path}.name`, value: ref.name, ...rule }];
}

async function missingIssuer(
  ports: Ports,
  spec: EtcdSpec,
  path: string,
  ref: IssuerRef,
  label: string,
): Promise<ConfigProblem> {
  const otherKind = ref.kind === "Issuer" ? "ClusterIssuer" : "Issuer";
  const other = await ports.kube.issuer(otherKind, spec.namespace, ref.name, ref.apiGroup).catch(() => undefined);
  if (other) {
    return {
      path: `${path}.kind`,
      value: ref.kind,
      rule: `${label} does not exist, but there is ${otherKind === "Issuer" ? "an Issuer" : "a ClusterIssuer"} of that name`,
      mend: `Set ${path}.kind to ${otherKind}`,
    };
  }
  const elsewhere = ref.kind === "Issuer" ? await issuerNamespaces(ports, ref.name) : [];
  return {
    path: `${path}.name`,
    value: ref.name,
    rule: elsewhere.length
      ? `${label} does not exist; an Issuer of that name is in namespace ${elsewhere.join(", ")}, where certificates of ${spec.namespace} cannot use it`
      : `${label} does not exist`,
    mend: elsewhere.length
      ? "Make the Issuer in the cluster's own namespace, or use a ClusterIssuer"
      : "Make it first (cert-manager would wait for it for ever), or name another",
  };
}

/** A hint and no more: whoever may not look into other namespaces goes without it. */
async function issuerNamespaces(ports: Ports, name: string): Promise<string[]> {
  const all = await ports.kube.list("cert-manager.io/v1", "Issuer", undefined).catch(() => []);
  return all.flatMap((issuer) => (issuer.metadata.name === name ? [issuer.metadata.namespace ?? ""] : []));
}

function unusable(
  issuer: LiveIssuer,
  label: string,
  hasTrustedCas: boolean,
): Pick<ConfigProblem, "rule" | "mend"> | undefined {
  if (issuer.type === "selfSigned") {
    return {
      rule: `${label} is self-signed: each certificate would be its own CA, and no member would trust another`,
      mend: "Use it to issue a CA certificate, and a CA issuer over that certificate's Secret for etcd",
    };
  }
  if (issuer.type === "acme" && !hasTrustedCas) {
    return {
      rule: `${label} is an ACME issuer: it names no CA, so nobody could verify what it issues`,
      mend: "Name the CAs that it signs with in etcd:tls.trustedCAs, or use a CA, Vault or other private issuer",
    };
  }
  if (issuer.ready) return undefined;
  return {
    rule: notReady(label, issuer),
    mend: "Look at its conditions (kubectl describe) and mend it first",
  };
}

/** Whether the workload that is there may be changed by this program, and only in ways that don't replace it. */
export function checkOwnership(spec: EtcdSpec, owner: string, live: LiveWorkload): ConfigProblem[] {
  const liveOwner = live.annotations[OWNER];
  const problems: ConfigProblem[] = [];
  if (liveOwner !== owner) {
    problems.push({
      path: "etcd:name",
      value: spec.name,
      rule: `${live.kind} ${spec.namespace}/${spec.name} exists already and belongs to ${liveOwner ?? "somebody else (it carries no owner)"}`,
      mend: "Choose another name or namespace",
    });
  }
  if (live.replicas !== spec.replicas) {
    problems.push({
      path: "etcd:replicas",
      value: spec.replicas,
      rule: `the running cluster has ${live.replicas} members, and their number cannot be changed in place`,
      mend: `Keep ${live.replicas}; for another size make a new cluster and move the data`,
    });
  }
  return problems;
}
