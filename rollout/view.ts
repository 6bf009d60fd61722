import { memberHost, trustBundleName } from "../config/names";
import type { Alias, AuthSpec, EtcdSpec } from "../config/types";
import { stageOf, TLS_SETTINGS } from "../manifests";
import type { MemberTls, Stage } from "../manifests/types";
import { readUser } from "./etcd-user";
import type {
  ClientCredentials,
  EtcdUser,
  LivePod,
  Member,
  MemberAddress,
  MemberStatus,
  MemberVersions,
  PodAddress,
  Ports,
  Scheme,
  SecretMaterial,
  Vitals,
} from "./ports";
import { certificatesOf } from "./x509";

/** How long one call to one member may take, in milliseconds. */
export const CALL_DEADLINE_MS = 3000;

/**
 * How the engine talks to the members that run now.
 *
 * The scheme of every call follows the stage that the pod itself was started on, never the spec: in the middle of a
 * walk neighbours speak differently.
 */
export class ClusterView {
  private credentials: ClientCredentials | undefined;
  private user: EtcdUser | undefined;

  constructor(
    readonly ports: Ports,
    readonly spec: EtcdSpec,
    /** TLS the running members were rendered with, or are about to be; names the client Secret. */
    private readonly tls: MemberTls | undefined,
    /** What to trust, PEM, if it is not what the cluster's bundle holds now. */
    private readonly bundle?: string,
  ) {}

  /** The same members, asked by somebody who trusts this bundle. */
  trusting(bundle: string): ClusterView {
    return new ClusterView(this.ports, this.spec, this.tls, bundle);
  }

  pods(): Promise<LivePod[]> {
    return this.ports.kube.pods(this.spec);
  }

  private place({ name, ordinal }: LivePod): PodAddress {
    return { namespace: this.spec.namespace, pod: name, host: memberHost(this.spec, ordinal) };
  }

  async address(pod: LivePod): Promise<MemberAddress> {
    const scheme = clientScheme(stageOf(pod.annotations));
    return {
      ...this.place(pod),
      scheme,
      ...(scheme === "https" && { credentials: await this.loadCredentials() }),
      ...(this.spec.auth && { user: await this.loadUser(this.spec.auth) }),
    };
  }

  private async loadUser(auth: AuthSpec): Promise<EtcdUser> {
    this.user ??= await readUser(this.ports, this.spec.namespace, auth);
    return this.user;
  }

  /** The client certificate and the trust bundle, from the cluster; kept in memory only, for one operation. */
  async loadCredentials(): Promise<ClientCredentials> {
    this.credentials ??= await readCredentials(this.ports, this.spec, this.tls, this.bundle);
    return this.credentials;
  }

  /** After certificates were re-issued: read them again. */
  forgetCredentials(): void {
    this.credentials = undefined;
  }

  /** The member list as some ready member has it: a linearizable read, so it needs quorum. */
  async members(pods: LivePod[]): Promise<Member[]> {
    return this.askAny(pods, (address) => this.ports.etcd.memberList(address, CALL_DEADLINE_MS));
  }

  async alarms(pods: LivePod[]): Promise<string[]> {
    return this.askAny(pods, (address) => this.ports.etcd.alarms(address, CALL_DEADLINE_MS));
  }

  /** ID of the member that runs in a pod, whether or not that serves. */
  identity(pod: LivePod): Promise<string> {
    return this.ports.etcd.identity(this.place(pod), CALL_DEADLINE_MS);
  }

  vitals(pod: LivePod): Promise<Vitals> {
    return this.ports.etcd.vitals(this.place(pod), CALL_DEADLINE_MS);
  }

  async status(pod: LivePod): Promise<MemberStatus> {
    return this.ports.etcd.status(await this.address(pod), CALL_DEADLINE_MS);
  }

  async versions(pod: LivePod): Promise<MemberVersions> {
    return this.ports.etcd.versions(await this.address(pod), CALL_DEADLINE_MS);
  }

  /** Asks the ready members one after the other until one answers; throws the last error. */
  async askAny<T>(pods: LivePod[], ask: (address: MemberAddress) => Promise<T>): Promise<T> {
    let last: unknown = new Error(`no member of ${this.spec.namespace}/${this.spec.name} is ready`);
    for (const pod of pods.filter((candidate) => candidate.ready)) {
      try {
        return await ask(await this.address(pod));
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }
}

/** The client port of a bridge serves both; plain http needs no credentials, so it cannot fail for want of them. */
export function clientScheme(stage: Stage | undefined): Scheme {
  return stage?.client === "tls" ? "https" : "http";
}

async function readCredentials(
  ports: Ports,
  spec: EtcdSpec,
  tls: MemberTls | undefined,
  trusted: string | undefined,
): Promise<ClientCredentials> {
  const secretName = tls && secretOf(tls, "client");
  if (!secretName)
    throw new Error(`${spec.namespace}/${spec.name}: members serve TLS, but no client certificate is known`);
  const material = await usableMaterial(ports, spec, tls);
  if (!material) {
    throw new Error(
      `Secret ${spec.namespace}/${secretName} (the client certificate) is missing; without it the members cannot be asked. Restore the Secret or its Certificate`,
    );
  }
  const bundle = trusted ?? (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"];
  if (!bundle) {
    throw new Error(`ConfigMap ${spec.namespace}/${trustBundleName(spec)} with the trusted CAs is missing`);
  }
  return { caBundle: bundle, certificate: material.certificate, key: material.key };
}

/** The client's leaf; if it is gone or has expired, a leaf of the members, which serves clients as well. */
async function usableMaterial(ports: Ports, spec: EtcdSpec, tls: MemberTls): Promise<SecretMaterial | undefined> {
  let first: SecretMaterial | undefined;
  for (const alias of ["client", "peer", "server"] as const) {
    const secretName = secretOf(tls, alias);
    const material = secretName && (await ports.kube.secretMaterial(spec.namespace, secretName));
    const [leaf] = material ? certificatesOf(material.certificate) : [];
    if (material && leaf && Date.parse(leaf.validTo) > ports.clock.now()) return material;
    first ??= material || undefined;
  }
  return first;
}

function secretOf({ certificates }: MemberTls, alias: Alias): string | undefined {
  return certificates.find((certificate) => certificate.alias === alias)?.secretName;
}

/** TLS settings that a live workload was rendered from, as the engine left them on the object. */
export function tlsOf(workloadAnnotations: Record<string, string>): MemberTls | undefined {
  const text = workloadAnnotations[TLS_SETTINGS];
  return text ? (JSON.parse(text) as MemberTls) : undefined;
}
