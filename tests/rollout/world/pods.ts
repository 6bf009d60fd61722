import { createHash } from "node:crypto";
import { type KubeObject, TRUST_BUNDLE_KEY } from "../../../manifests";
import type { LivePod, LiveWorkload } from "../../../rollout/ports";
import { frozen } from "./frozen";

export interface PodTemplate {
  metadata: { annotations: Record<string, string>; labels?: Record<string, string> };
  spec: { volumes?: Volume[]; containers?: { image: string }[] };
}

interface Volume {
  secret?: { secretName: string };
  configMap?: { name: string; items?: { key: string; path: string }[] };
}

export interface Pod {
  name: string;
  ordinal: number;
  uid: string;
  revision: string;
  template: PodTemplate;
  phase: "waiting" | "running" | "terminating";
  ready: boolean;
  trouble?: string;
  /** The kubelet says Ready no earlier than this. */
  readyFrom: number;
  /** Since when the probe has failed. */
  failingSince?: number;
  /** What the mounted files hold now. */
  files: { peer?: string | undefined; server?: string | undefined; trust?: string | undefined };
  /** When the kubelet wrote them last. */
  filesAt: number;
}

interface WorkloadObject extends KubeObject {
  spec: { replicas: number; template: PodTemplate };
}

/**
 * The workload as its controller has it, under OnDelete and Parallel: pods that are missing are made from the newest
 * template that the controller has seen, and pods that are there are left alone.
 */
export class Workload {
  object: WorkloadObject;
  generation = 1;
  /** Set by others in the pod template: server-side apply leaves alone what it does not own. */
  readonly foreignAnnotations: Record<string, string> = {};
  /** What the engine, or Pulumi, applied last. */
  applied: KubeObject;
  /** Somebody has edited it since. */
  edited = false;
  /** The last revision that anybody was told: nobody can act on a later one. */
  shownRevision = "";
  observed: { generation: number; template: PodTemplate; revision: string };

  constructor(object: KubeObject) {
    this.object = object as WorkloadObject;
    this.applied = object;
    this.observed = this.seen();
  }

  /** Server-side apply; says whether the spec changed, so that the controller has something to see. */
  apply(applied: KubeObject): boolean {
    const object = this.withForeign(applied as WorkloadObject);
    const changed = this.object !== object && JSON.stringify(this.object.spec) !== JSON.stringify(object.spec);
    this.object = object;
    if (changed) this.generation += 1;
    return changed;
  }

  private withForeign(object: WorkloadObject): WorkloadObject {
    if (Object.keys(this.foreignAnnotations).length === 0) return object;
    const { template } = object.spec;
    const annotations = { ...template.metadata.annotations, ...this.foreignAnnotations };
    const merged = { ...template, metadata: { ...template.metadata, annotations } };
    return frozen({ ...object, spec: { ...object.spec, template: merged } });
  }

  /** The object without what others have put into it. */
  own(): WorkloadObject {
    if (Object.keys(this.foreignAnnotations).length === 0) return this.object;
    const { template } = this.object.spec;
    const annotations = Object.entries(template.metadata.annotations).filter(
      ([name]) => !this.foreignAnnotations[name],
    );
    const own = { ...template, metadata: { ...template.metadata, annotations: Object.fromEntries(annotations) } };
    return { ...this.object, spec: { ...this.object.spec, template: own } };
  }

  observe(): void {
    this.observed = this.seen();
  }

  live(): LiveWorkload {
    this.shownRevision = this.observed.revision;
    return {
      kind: this.object.kind as LiveWorkload["kind"],
      uid: "workload",
      generation: this.generation,
      observedGeneration: this.observed.generation,
      replicas: this.object.spec.replicas,
      updateRevision: this.observed.revision,
      annotations: this.object.metadata.annotations ?? {},
      templateAnnotations: this.object.spec.template.metadata.annotations,
      object: this.object,
    };
  }

  /** Revisions go by content, so a template that comes back has its old revision. */
  private seen() {
    const { template } = this.object.spec;
    return { generation: this.generation, template, revision: revisionOf(template) };
  }
}

const revisions = new WeakMap<PodTemplate, string>();

function revisionOf(template: PodTemplate): string {
  const known = revisions.get(template);
  if (known) return known;
  const hash = createHash("sha256").update(JSON.stringify(template)).digest("hex").slice(0, 10);
  revisions.set(template, `rev-${hash}`);
  return `rev-${hash}`;
}

export function livePod(pod: Pod): LivePod {
  return {
    name: pod.name,
    uid: pod.uid,
    ordinal: pod.ordinal,
    revision: pod.revision,
    ready: pod.ready,
    terminating: pod.phase === "terminating",
    annotations: pod.template.metadata.annotations,
    ...(pod.trouble && { trouble: pod.trouble }),
  };
}

/** A pod as the API server lists it, as far as anybody reads it. */
export function podObject(pod: Pod, namespace: string): KubeObject {
  const deleted = pod.phase === "terminating" && { deletionTimestamp: "2030-01-01T00:00:00Z" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: pod.name, namespace, labels: pod.template.metadata.labels, ...deleted } as KubeObject["metadata"],
    spec: pod.template.spec,
  };
}

export const secretsOf = (template: PodTemplate) =>
  (template.spec.volumes ?? []).flatMap(({ secret }) => (secret ? [secret.secretName] : []));

export const configMapsOf = (template: PodTemplate) =>
  (template.spec.volumes ?? []).flatMap(({ configMap }) => (configMap ? [configMap.name] : []));

/** The CA certificates in a trust bundle, as clients find them. */
export function bundleOf(configMap: KubeObject | undefined): string {
  return (configMap?.data as Record<string, string> | undefined)?.[TRUST_BUNDLE_KEY] ?? "";
}

/** The keys of ConfigMaps that a pod mounts; it does not start where one is missing. */
export const configMapItemsOf = (template: PodTemplate) =>
  (template.spec.volumes ?? []).flatMap(({ configMap }) =>
    (configMap?.items ?? []).map(({ key }) => ({ name: configMap?.name ?? "", key })),
  );

/** The CA certificates that a member is started with. */
export function mountedBundle(template: PodTemplate, configMaps: Map<string, KubeObject>): string | undefined {
  const [item] = configMapItemsOf(template);
  const data = item && (configMaps.get(item.name)?.data as Record<string, string> | undefined);
  return item && data?.[item.key];
}
