import { createHash } from "node:crypto";
import { trustBundleName } from "../../../config/names";
import type { EtcdSpec, HostsAccess, HostsSpec } from "../../../config/types";
import {
  dialledAddress,
  type HostFile,
  type HostSet,
  leafFiles,
  memberBundleKey,
  metricsAddress,
  normalizeTrust,
  TEMPLATE_HASH,
  TRUST_BUNDLE_KEY,
  TRUST_REVISION,
  trustFiles,
} from "../../../manifests";
import type { KubeObject } from "../../../manifests/types";
import type { HostsPort, KubePort, LivePod, LiveWorkload, Right, SecretMaterial } from "../../ports";
import { Host, type HostState } from "./host";
import { HostError } from "./host-error";
import { LeaseFile } from "./lease-file";
import { lacksScript, pruneScript, readFolderScript, removeScript, sectionsOf, uninstallScript } from "./scripts";
import { Ssh } from "./ssh";
import { type Place, SshTransport } from "./transport";

/**
 * Hosts without Kubernetes, behind the port that the engine knows: a "pod" is a host's service, the "workload" is the
 * template that is written to every host beside the service file in force, an eviction puts it in force and restarts
 * the service. Secrets and ConfigMaps are files on every host; the Lease is one on the first.
 *
 * Nothing is remembered between two calls. Kinds that hosts know nothing of are an error of the engine's.
 */
export class HostsAdapter implements KubePort, HostsPort {
  readonly #hosts: Host[];
  readonly #spec: HostsSpec;
  readonly #cluster: Pick<EtcdSpec, "name" | "namespace">;
  readonly #upload: HostsAccess["upload"];
  readonly #lease: LeaseFile;

  constructor(spec: Pick<EtcdSpec, "name" | "namespace" | "hosts">, access: HostsAccess) {
    this.#spec = spec.hosts!;
    this.#cluster = { name: spec.name, namespace: spec.namespace };
    this.#upload = access.upload;
    this.#hosts = this.#spec.members.map((place, ordinal) => {
      const way = access.hosts.find(({ name }) => name === place.name);
      if (!way) throw new Error(`${place.name}: how the host is reached is not known`);
      return new Host(new Ssh(way), place, ordinal, this.#spec);
    });
    this.#lease = new LeaseFile(this.#hosts[0]!);
  }

  /** The way to the members' ports. */
  transport(): SshTransport {
    const places = this.#hosts.map(({ name, ssh, place }): [string, Place] => [
      name,
      { ssh, address: dialledAddress(place), metricsAddress: metricsAddress(place) },
    ]);
    return new SshTransport(new Map(places));
  }

  async close(): Promise<void> {
    await this.#each(({ ssh }) => ssh.close());
  }

  /** Throws with everything that some host lacks. */
  async ping(): Promise<undefined> {
    const script = lacksScript(this.#spec, this.#upload !== undefined);
    const found = await Promise.allSettled(this.#hosts.map(({ ssh }) => ssh.run(script)));
    const lines = found.flatMap((result, i) => {
      if (result.status === "rejected") return [(result.reason as Error).message];
      const lacks = result.value.trim().split("\n").filter(Boolean);
      return lacks.map((lack) => `${this.#hosts[i]?.name}: ${lack}`);
    });
    if (lines.length > 0) throw new Error(lines.join("\n"));
  }

  /** Whoever may log in as root may do everything. */
  async missingRights(_rights: Right[]): Promise<Right[]> {
    return [];
  }

  async serves(): Promise<boolean> {
    return false;
  }

  async workload(): Promise<LiveWorkload | undefined> {
    const states = await this.#each((host) => host.state());
    const written = states.filter(({ next }) => next !== undefined);
    if (written.length < states.length) {
      // No service is made before the template is on every host.
      if (states.every(({ installed }) => installed === undefined)) return undefined;
      throw this.#lost(states);
    }
    const hashes = new Set(states.map(({ next }) => next?.[TEMPLATE_HASH]));
    const { [TEMPLATE_HASH]: hash = "none", ...others } = states[0]?.next ?? {};
    const revision = hashes.size === 1 ? hash : `mixed-${[...hashes].join("-")}`;
    const generation = Number.parseInt(createHash("sha256").update(revision).digest("hex").slice(0, 12), 16);
    return {
      kind: "HostSet",
      uid: this.#cluster.name,
      generation,
      observedGeneration: generation,
      replicas: states.length,
      updateRevision: revision,
      annotations: states.find(({ record }) => record !== undefined)?.record ?? {},
      // Hosts on different templates: the walk writes it anew.
      templateAnnotations: hashes.size === 1 ? { ...others, [TEMPLATE_HASH]: hash } : others,
      object: { apiVersion: "pulumi-etcd/v1", kind: "HostSet", metadata: { ...this.#cluster }, spec: {} },
    };
  }

  #lost(states: HostState[]): HostError {
    const host = this.#hosts[states.findIndex(({ next }) => next === undefined)]!;
    return new HostError(
      "Command",
      host.name,
      `nothing is installed there while other hosts run members. If its data is lost, replace the member with etcdctl member remove and member add, and copy ${host.layout().state} and the service file from another host first`,
    );
  }

  async pods(): Promise<LivePod[]> {
    return (await this.#each((host) => host.pod())).filter((pod) => pod !== undefined);
  }

  async apply(object: KubeObject): Promise<KubeObject> {
    if (object.kind === "HostSet") await this.#writeTemplate(object as HostSet);
    else if (object.kind === "ConfigMap") await this.#writeBundle(object.data as Record<string, string>);
    else if (object.kind === "Secret") await this.#writeLeaf(object);
    else throw new Error(`hosts know no ${object.kind}`);
    return object;
  }

  /** With everything that the template refers to, so that putting it in force cannot lack anything. */
  async #writeTemplate({ metadata, spec }: HostSet): Promise<void> {
    const revision = spec.template.metadata.annotations[TRUST_REVISION];
    const bundle = revision === undefined ? [] : trustFiles(this.#spec, await this.#bundleOf(revision));
    const own = { mode: "0644", owner: "root:root" };
    await this.#each(async (host) => {
      if (this.#upload) await host.upload(this.#upload);
      const { record, nextUnit } = host.layout();
      const files = [
        ...bundle,
        { path: record, ...own, content: JSON.stringify(metadata.annotations ?? {}) },
        { path: nextUnit, ...own, content: spec.template.units[host.name] ?? "" },
      ];
      await host.write(files);
    });
  }

  async #bundleOf(revision: string): Promise<Record<string, string>> {
    const key = memberBundleKey(revision);
    const pem = (await this.configMapData(this.#cluster.namespace, trustBundleName(this.#cluster)))?.[key];
    if (pem === undefined) throw new Error(`no host has the trusted CAs of revision ${revision}`);
    return { [key]: pem };
  }

  async #writeBundle(data: Record<string, string>): Promise<void> {
    const folder = this.#hosts[0]!.layout().trust;
    await this.#each(async (host) => {
      await host.write(trustFiles(this.#spec, data));
      await host.ssh.run(pruneScript(folder, Object.keys(data)));
    });
  }

  async #writeLeaf({ metadata: { name }, data }: KubeObject): Promise<void> {
    const { "tls.crt": certificate = "", "tls.key": key = "" } = data as Record<string, string>;
    const leaf = { certificate: decoded(certificate), key: decoded(key) };
    const files: HostFile[] = leafFiles(this.#spec, name, leaf);
    await this.#each((host) => host.write(files, [name]));
  }

  async get(
    _apiVersion: string,
    kind: string,
    _namespace: string | undefined,
    name: string,
  ): Promise<KubeObject | undefined> {
    if (kind === "Lease") return this.#lease.get();
    if (kind === "Secret") return this.#secret(name);
    if (kind === "PersistentVolumeClaim") return undefined;
    throw new Error(`hosts know no ${kind}`);
  }

  /** Undefined unless every host has it, and has the same. */
  async #secret(name: string): Promise<KubeObject | undefined> {
    const found = await this.#each((host) => this.#readLeaf(host, name));
    const [first] = found;
    if (!first || found.some((leaf) => leaf?.certificate !== first.certificate || leaf.key !== first.key))
      return undefined;
    const data = { "tls.crt": encoded(first.certificate), "tls.key": encoded(first.key) };
    return { apiVersion: "v1", kind: "Secret", metadata: { name }, type: "kubernetes.io/tls", data };
  }

  async #readLeaf(host: Host, name: string): Promise<SecretMaterial | undefined> {
    const files = sectionsOf(await host.ssh.run(readFolderScript(`${host.layout().tls}/${name}`)));
    const { "tls.crt": certificate, "tls.key": key } = files;
    return certificate && key ? { certificate, key } : undefined;
  }

  /** As some host has it. */
  async secretMaterial(_namespace: string, name: string): Promise<SecretMaterial | undefined> {
    return (await this.#each((host) => this.#readLeaf(host, name))).find((leaf) => leaf !== undefined);
  }

  /** Where hosts differ, after a write that was broken off, the CAs of all of them: so the next update writes it anew. */
  async configMapData(_namespace: string, _name: string): Promise<Record<string, string> | undefined> {
    const all = await this.#each(async (host) => sectionsOf(await host.ssh.run(readFolderScript(host.layout().trust))));
    const bundles = new Set(all.flatMap((files) => files[TRUST_BUNDLE_KEY] ?? []));
    if (bundles.size === 0) return undefined;
    return { ...Object.assign({}, ...all), [TRUST_BUNDLE_KEY]: normalizeTrust([...bundles].join("\n")) };
  }

  async list(_apiVersion: string, kind: string): Promise<KubeObject[]> {
    throw new Error(`hosts know no ${kind}`);
  }

  async create(object: KubeObject): Promise<KubeObject> {
    if (object.kind === "Lease") return this.#lease.create(object);
    throw new Error(`hosts know no ${object.kind}`);
  }

  async replace(object: KubeObject): Promise<KubeObject> {
    if (object.kind === "Lease") return this.#lease.replace(object);
    throw new Error(`hosts know no ${object.kind}`);
  }

  async replaceStatus(object: KubeObject): Promise<void> {
    throw new Error(`hosts know no ${object.kind}`);
  }

  async delete(_apiVersion: string, kind: string, _namespace: string | undefined, name: string): Promise<void> {
    if (kind === "Lease") return this.#lease.delete();
    const { tls, trust } = this.#hosts[0]!.layout();
    const path = kind === "ConfigMap" ? trust : kind === "Secret" ? `${tls}/${name}` : undefined;
    if (path === undefined) throw new Error(`hosts know no ${kind}`);
    await this.#each(({ ssh }) => ssh.run(removeScript([path])));
  }

  async evict(_namespace: string, pod: string, uid: string): Promise<"evicted" | "blocked" | "gone"> {
    const host = this.#hosts.find(({ name }) => name === pod);
    if (!host) throw new Error(`${pod}: no such host`);
    return host.activate(uid);
  }

  /** Hosts have no budget that could say no. */
  async deletePod(namespace: string, pod: string, uid: string): Promise<"deleted" | "gone"> {
    return (await this.evict(namespace, pod, uid)) === "gone" ? "gone" : "deleted";
  }

  /** A member reads its files anew by itself. */
  async annotatePod(): Promise<void> {}

  async issuer(): Promise<undefined> {}

  async startMissing(): Promise<string[]> {
    const states = await this.#each((host) => host.state());
    const missing = this.#hosts.filter((_, i) => states[i]?.next !== undefined && states[i].installed === undefined);
    await Promise.all(missing.map((host) => host.activate("absent")));
    return missing.map(({ name }) => name);
  }

  async occupied(): Promise<string[]> {
    const states = await this.#each((host) => host.state());
    return this.#hosts.flatMap(({ name }, i) => {
      const { foreign, data, installed } = states[i]!;
      if (foreign) return [`${name}: the service ${this.#spec.service} is there already and was made by somebody else`];
      return data && !installed ? [`${name}: ${this.#spec.dataDir} holds the data of another member`] : [];
    });
  }

  async uninstall(): Promise<void> {
    await this.#each(({ ssh }) => ssh.run(uninstallScript(this.#spec)));
  }

  #each<T>(body: (host: Host) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#hosts.map(body));
  }
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}
