import type { KubeObject } from "../../../manifests";
import type { ApplyOptions, KubePort, Right } from "../../../rollout/ports";
import { PEER_SCHEME } from "../../../rollout/volumes";
import type { CertificateObject } from "./cert-manager";
import { frozen } from "./frozen";
import { configMapsOf, livePod, podObject, secretsOf } from "./pods";
import type { World } from "./world";

/** What the engine asked of Kubernetes that matters for its promises. */
export interface KubeEvents {
  /** An eviction that takes effect. */
  evicting(pod: string): void;
  /** A Secret or ConfigMap goes. */
  deleting(kind: string, name: string): void;
}

/** Kubernetes' API over the simulated world. */
export class SimulatedKube implements KubePort {
  constructor(
    private readonly world: World,
    private readonly events: KubeEvents,
  ) {}

  async ping() {
    return this.world.now();
  }

  async missingRights(rights: Right[]) {
    return rights.filter(({ resource, verb }) => this.world.forbidden.has(`${verb} ${resource}`));
  }

  async serves(apiVersion: string, kind: string) {
    return this.world.served.has(`${apiVersion} ${kind}`);
  }

  async workload() {
    return this.world.workload?.live();
  }

  async pods() {
    return this.world.pods.map(livePod);
  }

  async apply(object: KubeObject, options: ApplyOptions = {}) {
    if (options.dryRun) return frozen(object);
    const { kind, metadata } = object;
    if (kind === "StatefulSet" || kind === "PetSet") this.world.applyWorkload(object);
    else if (kind === "Certificate") this.world.certManager.apply(frozen(object));
    else if (kind === "ConfigMap") this.world.configMaps.set(metadata.name, frozen(object));
    else if (kind === "Secret") this.world.certManager.applySecret(object);
    else throw new Error(`the simulated world knows no ${kind}`);
    return frozen(object);
  }

  async get(_apiVersion: string, kind: string, _namespace: string | undefined, name: string) {
    const { certManager, configMaps, workload } = this.world;
    if (kind === "Certificate") return certManager.certificates.get(name);
    if (kind === "Issuer" || kind === "ClusterIssuer") return issuerObject(this.world, kind, name);
    if (kind === "Secret") return this.world.secrets.get(name) ?? certManager.secrets.get(name)?.object;
    if (kind === "ConfigMap") return configMaps.get(name);
    if (kind === "PersistentVolumeClaim" || kind === "Service")
      return this.world.surroundings.get(`${kind}/${name}`) ?? this.claim(kind, name);
    if (kind === workload?.object.kind) return workload.object;
    throw new Error(`the simulated world knows no ${kind}`);
  }

  private claim(kind: string, name: string): KubeObject | undefined {
    return kind === "PersistentVolumeClaim" && this.world.workload ? claim(name) : undefined;
  }

  async list(
    _apiVersion: string,
    kind: string,
    namespace: string | undefined,
    selector?: string,
  ): Promise<KubeObject[]> {
    return this.all(kind, namespace).filter((object) => selects(selector, object));
  }

  private all(kind: string, namespace: string | undefined): KubeObject[] {
    if (kind === "Pod")
      return [...this.world.pods.map((pod) => podObject(pod, namespace ?? "")), ...this.world.otherPods];
    if (kind === "Certificate") return [...this.world.certManager.certificates.values()];
    if (kind === "Secret") return [...this.world.certManager.secrets.values()].map(({ object }) => object);
    if (kind === "CertificateRequest") return [...this.world.certManager.requests.values(), ...this.world.requests];
    if (kind === "Issuer")
      return this.world.issuersElsewhere.map((metadata) => ({ apiVersion: "cert-manager.io/v1", kind, metadata }));
    throw new Error(`the simulated world knows no ${kind}`);
  }

  async create(object: KubeObject): Promise<KubeObject> {
    throw new Error(`the engine must not create a ${object.kind} without a holder's name`);
  }

  async replace(object: KubeObject): Promise<KubeObject> {
    throw new Error(`the engine must not replace a ${object.kind} without a holder's name`);
  }

  async replaceStatus(object: KubeObject) {
    this.world.certManager.replaceStatus(object as unknown as CertificateObject);
  }

  async delete(_apiVersion: string, kind: string, _namespace: string | undefined, name: string) {
    const { certManager, configMaps } = this.world;
    this.events.deleting(kind, name);
    if (kind === "Certificate") certManager.delete(name);
    else if (kind === "Secret") certManager.deleteSecret(name);
    else if (kind === "ConfigMap") configMaps.delete(name);
    else throw new Error(`the engine must not delete a ${kind}`);
  }

  async evict(_namespace: string, name: string, uid: string) {
    const pod = this.world.pods.find((candidate) => candidate.name === name && candidate.uid === uid);
    if (!pod) return "gone" as const;
    if (pod.phase === "terminating") return "evicted" as const;
    if (this.blocked(pod.ready)) return "blocked" as const;
    this.events.evicting(name);
    this.world.deletePod(pod);
    return "evicted" as const;
  }

  async deletePod(_namespace: string, name: string, uid: string) {
    const pod = this.world.pods.find((candidate) => candidate.name === name && candidate.uid === uid);
    if (!pod) return "gone" as const;
    if (pod.phase === "terminating") return "deleted" as const;
    this.events.evicting(name);
    this.world.deletePod(pod);
    return "deleted" as const;
  }

  /** `maxUnavailable: 1` with `AlwaysAllow` for pods that are not healthy. */
  private blocked(ready: boolean): boolean {
    const { world } = this;
    if (world.now() < world.evictionsBlockedUntil) return true;
    const healthy = world.pods.filter((pod) => pod.ready && pod.phase !== "terminating").length;
    return world.budget && ready && healthy < world.spec.replicas;
  }

  /** A changed annotation makes the kubelet look at the pod, and so refresh its files. */
  async annotatePod(_namespace: string, name: string) {
    const pod = this.world.pods.find((candidate) => candidate.name === name);
    if (pod) this.world.timeline.after(200, () => this.world.refreshFiles(pod));
  }

  async configMapData(_namespace: string, name: string) {
    return this.world.configMaps.get(name)?.data as Record<string, string> | undefined;
  }

  async secretMaterial(_namespace: string, name: string) {
    const { secrets, issuers } = this.world.certManager;
    const ca = [...issuers.values()].find(({ authority }) => caSecretOf(authority.name) === name);
    if (ca) return { certificate: ca.authority.certificate, key: "" };
    const secret = secrets.get(name);
    return secret && { certificate: secret.certificate, key: secret.key, ca: secret.ca };
  }

  async issuer(kind: string, _namespace: string, name: string) {
    return this.world.certManager.issuers.get(`${kind}/${name}`);
  }
}

function selects(selector: string | undefined, { metadata }: KubeObject): boolean {
  if (selector === undefined) return true;
  const pairs = selector.split(",").map((pair) => pair.split("="));
  return pairs.every(([label = "", value]) => metadata.labels?.[label] === value);
}

/** A volume that a member has served from, as the update has marked it. */
function claim(name: string): KubeObject {
  const annotations = { [PEER_SCHEME]: "https" };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, annotations } };
}

const caSecretOf = (authority: string) => `${authority}-key`;

function issuerObject(world: World, kind: string, name: string): KubeObject | undefined {
  const issuer = world.certManager.issuers.get(`${kind}/${name}`);
  if (!issuer) return undefined;
  const spec = issuer.type === "ca" ? { ca: { secretName: caSecretOf(issuer.authority.name) } } : { [issuer.type]: {} };
  return { apiVersion: "cert-manager.io/v1", kind, metadata: { name }, spec };
}

/** Who would miss a Secret or ConfigMap: pods that mount it, and those that the workload would make next. */
export function usersOf(world: World, kind: string, name: string): string[] {
  const mounted = kind === "Secret" ? secretsOf : kind === "ConfigMap" ? configMapsOf : () => [];
  const pods = world.pods.filter((pod) => pod.phase !== "terminating" && mounted(pod.template).includes(name));
  const template = world.workload?.object.spec.template;
  return [...pods.map((pod) => pod.name), ...(template && mounted(template).includes(name) ? ["the template"] : [])];
}
