import type { EtcdSpec } from "../../../config";
import { memberName } from "../../../config";
import { versionInTag } from "../../../config/rules-image";
import { type KubeObject, PLAIN, stageOf } from "../../../manifests";
import { CertManager, trusts } from "./cert-manager";
import { frozen } from "./frozen";
import { configMapItemsOf, configMapsOf, mountedBundle, type Pod, type PodTemplate, secretsOf, Workload } from "./pods";
import { Raft, type RaftMember } from "./raft";
import { Durations, Timeline } from "./timeline";

/** A failed readiness probe counts after three times two seconds. */
const UNREADY_AFTER_MS = 6000;

/** The kubelet looks at a pod's mounts this often, when nothing makes it look earlier. */
const KUBELET_SYNC_MS = 75_000;

/** Secrets and ConfigMaps as the kubelet knows them. */
interface KubeletView {
  secrets: CertManager["secrets"];
  configMaps: Map<string, KubeObject>;
}

export interface WorldOptions {
  /** Shares in percent that decide how long everything takes, and who is elected. */
  durations?: number[];
  /** Whether evictions are held back by the PodDisruptionBudget that the program makes. */
  budget?: boolean;
  /** Ordinal of the one member that is a learner: it follows, and its vote does not count. */
  learner?: number | undefined;
}

/** One Kubernetes cluster with one etcd cluster in it, in virtual time. */
export class World {
  readonly timeline: Timeline;
  readonly durations: Durations;
  readonly raft: Raft;
  readonly certManager: CertManager;
  readonly configMaps = new Map<string, KubeObject>();
  /** The user of etcd's own authentication, with the role root; absent while that is off. */
  etcdUser?: { name: string; password: string };
  /** Secrets that are not of a certificate. */
  readonly secrets = new Map<string, KubeObject>();
  /** What the user of the kubeconfig may not do, such as `create pods/eviction`. */
  readonly forbidden = new Set<string>();
  readonly served = new Set([
    "apps/v1 StatefulSet",
    "apps.k8s.appscode.com/v1 PetSet",
    "cert-manager.io/v1 Certificate",
  ]);
  /** cert-manager's CertificateRequests, as far as a test has put any here. */
  readonly requests: KubeObject[] = [];
  /** Services and PersistentVolumeClaims, as far as a test has put any here, such as `Service/db`. */
  readonly surroundings = new Map<string, KubeObject>();
  /** Pods that are no members. */
  readonly otherPods: KubeObject[] = [];
  /** Issuers in other namespaces. */
  readonly issuersElsewhere: { name: string; namespace: string }[] = [];
  readonly budget: boolean;
  private readonly learner: number | undefined;
  workload: Workload | undefined;
  pods: Pod[] = [];
  /** Evictions are refused until then, as if other pods used the budget up. */
  evictionsBlockedUntil = 0;
  /** By how much the operator's wall clock is ahead, in milliseconds. */
  clockOffset = 0;
  /** The next pod that starts takes this much longer to become ready. */
  extraReadinessMs = 0;
  /** When something last happened that the engine did not do. */
  disturbedAt: number | undefined;
  /** Whether a schedule changes versions: only then is being asked for them a call like any other. */
  versionsMatter = false;
  /** Called when a member is started on a version that its data or the cluster does not bear. */
  onWrongStart: (what: string) => void = () => {};
  /** Called after everything that happens. */
  onStep: () => void = () => {};
  private uid = 1;
  private readonly creating = new Set<number>();
  /** What a kubelet that lags still believes. */
  private stale: KubeletView | undefined;
  private staleUntil = 0;

  constructor(
    readonly spec: EtcdSpec,
    { durations = [], budget = true, learner }: WorldOptions = {},
  ) {
    this.timeline = new Timeline(() => this.tick());
    this.durations = new Durations(durations);
    this.raft = new Raft(spec, trusts, this.durations);
    this.certManager = new CertManager(
      (run, atLeastMs = 0) => this.timeline.after(Math.max(atLeastMs, this.durations.between(50, 3000)), run),
      () => this.now(),
    );
    this.budget = budget;
    this.learner = learner;
  }

  now(): number {
    return this.timeline.now();
  }

  /** As the operator's machine shows it. */
  wallClock(): number {
    return this.now() + this.clockOffset;
  }

  member(pod: Pick<Pod, "ordinal">): RaftMember | undefined {
    return this.raft.members.find((member) => member.ordinal === pod.ordinal);
  }

  /** Whether a member takes part and answers clients. */
  available(member: RaftMember): boolean {
    const { process } = member;
    return process !== undefined && this.now() >= process.servingFrom && this.raft.leaderSeenBy(member) !== undefined;
  }

  applyWorkload(object: KubeObject): void {
    if (!this.workload) {
      this.workload = new Workload(frozen(object));
      const stage = stageOf(this.workload.observed.template.metadata.annotations) ?? PLAIN;
      // A cluster that comes back finds its data on its volumes.
      if (this.raft.members.length === 0) this.raft.bootstrap(stage.peer === "tls" ? "https" : "http", this.learner);
      return;
    }
    const { workload } = this;
    workload.applied = object;
    workload.edited = false;
    this.changeWorkload(object);
  }

  private changeWorkload(object: KubeObject): void {
    const { workload } = this;
    if (workload?.apply(frozen(object))) {
      this.timeline.after(this.durations.between(10, 1500), () => workload.observe());
    }
  }

  /** The pod's process ends at once, the pod object a little later; the controller then makes another. */
  deletePod(pod: Pod): void {
    this.stop(pod);
    pod.phase = "terminating";
    this.timeline.after(this.durations.between(50, 4000), () => {
      this.pods = this.pods.filter((other) => other !== pod);
    });
  }

  /** The container ends and is started again in the same pod. */
  crashContainer(pod: Pod): void {
    if (pod.phase !== "running") return;
    this.stop(pod);
    pod.phase = "waiting";
    this.timeline.after(this.durations.between(200, 5000), () => this.start(pod));
  }

  private stop(pod: Pod): void {
    const member = this.member(pod);
    if (member) member.process = undefined;
    this.raft.changed();
    pod.ready = false;
  }

  private tick(): void {
    this.createMissingPods();
    this.raft.tick(this.now());
    for (const pod of this.pods) {
      if (pod.phase === "running" && this.now() - pod.filesAt >= KUBELET_SYNC_MS) this.refreshFiles(pod);
      this.probe(pod);
    }
    this.onStep();
  }

  private createMissingPods(): void {
    for (let ordinal = 0; this.workload && ordinal < this.workload.object.spec.replicas; ordinal++) {
      if (this.creating.has(ordinal) || this.pods.some((pod) => pod.ordinal === ordinal)) continue;
      this.creating.add(ordinal);
      this.timeline.after(this.durations.between(50, 1000), () => {
        this.creating.delete(ordinal);
        this.create(ordinal);
      });
    }
  }

  private create(ordinal: number): void {
    if (!this.workload) return;
    const { template, revision } = this.workload.observed;
    const name = memberName(this.spec, ordinal);
    const uid = `uid-${this.uid++}`;
    const pod: Pod = {
      name,
      ordinal,
      uid,
      revision,
      template,
      phase: "waiting",
      ready: false,
      readyFrom: 0,
      files: {},
      filesAt: 0,
    };
    this.pods.push(pod);
    this.pods.sort((a, b) => a.ordinal - b.ordinal);
    this.timeline.after(this.durations.between(100, 2000), () => this.start(pod));
  }

  private start(pod: Pod): void {
    if (pod.phase !== "waiting") return;
    const missing = this.missingVolumes(pod.template);
    const member = this.member(pod);
    if (missing || !member) {
      pod.trouble = `ContainerCreating: ${missing} not found`;
      this.timeline.after(1000, () => this.start(pod));
      return;
    }
    delete pod.trouble;
    this.refreshFiles(pod);
    const now = this.now();
    pod.phase = "running";
    pod.readyFrom = now + this.durations.between(100, 4000) + this.extraReadinessMs;
    this.extraReadinessMs = 0;
    delete pod.failingSince;
    const version = versionInTag(pod.template.spec.containers?.[0]?.image) ?? this.spec.version;
    const refusal = this.raft.versions.refuses(member, version);
    if (refusal) this.onWrongStart(refusal);
    this.raft.versions.started(version, this.raft.members);
    member.process = {
      version,
      snapshots: 0,
      stage: stageOf(pod.template.metadata.annotations) ?? PLAIN,
      trust: pod.files.trust ?? "",
      peerLeaf: () => pod.files.peer,
      serverLeaf: () => pod.files.server,
      startedAt: now,
      servingFrom: now + this.durations.between(100, 6000),
      caughtUpAt: now + this.durations.between(0, 5000),
    };
    this.raft.changed();
  }

  /** Somebody else's annotation in the pod template: no pod restarts because of it, but there is a new revision. */
  annotateTemplate(annotations: Record<string, string>): void {
    const { workload } = this;
    if (!workload) return;
    Object.assign(workload.foreignAnnotations, annotations);
    this.changeWorkload(workload.object);
  }

  /** An edit of something that the engine owns: its next apply takes it back. The same etcd, from elsewhere. */
  editImage(repository: string, mark: string): void {
    const { workload } = this;
    if (!workload) return;
    const object = structuredClone(workload.object);
    for (const container of object.spec.template.spec.containers ?? [])
      container.image = `${repository}:v${versionInTag(container.image)}-${mark}`;
    this.changeWorkload(object);
    workload.edited = true;
  }

  /** An issuer is not Ready for a while. */
  issuerPending(name: string, ms: number): void {
    const issuer = this.certManager.issuers.get(`Issuer/${name}`);
    if (!issuer) return;
    issuer.ready = false;
    this.timeline.after(ms, () => {
      issuer.ready = true;
    });
  }

  /** For a while the kubelet sees the Secrets and ConfigMaps that it watches as they are now. */
  lagKubelet(ms: number): void {
    const watched = new Set(this.pods.flatMap((pod) => secretsOf(pod.template)));
    const secrets = [...this.certManager.secrets].filter(([name]) => watched.has(name));
    this.stale = { secrets: new Map(secrets), configMaps: new Map(this.configMaps) };
    this.staleUntil = this.now() + ms;
    this.timeline.after(ms, () => {
      if (this.now() < this.staleUntil) return;
      this.stale = undefined;
      for (const pod of this.pods) this.refreshFiles(pod);
    });
  }

  /** Whether the kubelet has brought a member something that its Secret no longer holds: nobody can see it coming. */
  servesBygone(member: RaftMember): boolean {
    const pod = this.stale && this.pods.find(({ ordinal }) => ordinal === member.ordinal);
    const { secrets } = this.certManager;
    const name = pod && secretsOf(pod.template).find((each) => each.includes("server"));
    return name !== undefined && secrets.get(name)?.certificate !== member.process?.serverLeaf();
  }

  /**
   * Whether a member would refuse what is in the Secrets, or served, because cert-manager has renewed leaves by itself
   * since the CA behind their issuer was renewed.
   */
  distrusts(member: RaftMember): boolean {
    const { unattended, secrets } = this.certManager;
    const { process } = member;
    if (unattended.size === 0 || !process?.trust) return false;
    const served = this.raft.members.flatMap(({ process: other }) => [other?.peerLeaf(), other?.serverLeaf()]);
    const mounted = this.pods
      .flatMap(({ template }) => secretsOf(template))
      .map((name) => secrets.get(name)?.certificate);
    return [...served, ...mounted].some((leaf) => leaf && unattended.has(leaf) && !trusts(process.trust, leaf));
  }

  /** Of a Secret that no pod mounts yet it reads the latest: watches begin with a pod, and end with the last one. */
  private get kubelet(): KubeletView {
    const { secrets } = this.certManager;
    if (!this.stale) return { secrets, configMaps: this.configMaps };
    return { ...this.stale, secrets: new Map([...secrets, ...this.stale.secrets]) };
  }

  private missingVolumes(template: PodTemplate): string | undefined {
    const { secrets, configMaps } = this.kubelet;
    const secret = secretsOf(template).find((name) => !secrets.has(name));
    if (secret) return `secret "${secret}"`;
    const configMap = configMapsOf(template).find((name) => !configMaps.has(name));
    if (configMap) return `configmap "${configMap}"`;
    const [item] = configMapItemsOf(template);
    return item && mountedBundle(template, configMaps) === undefined ? `configmap key "${item.key}"` : undefined;
  }

  /** The kubelet writes what Secrets and ConfigMaps hold now into the pod's files. */
  refreshFiles(pod: Pod): void {
    const { secrets, configMaps } = this.kubelet;
    const leaf = (alias: string) => {
      const name = secretsOf(pod.template).find((secretName) => secretName.includes(alias));
      return name === undefined ? undefined : secrets.get(name)?.certificate;
    };
    const trust = mountedBundle(pod.template, configMaps);
    pod.files = { peer: leaf("peer"), server: leaf("server"), trust };
    pod.filesAt = this.now();
    this.raft.changed();
  }

  /** Readiness asks etcd's /readyz, which wants a leader. */
  private probe(pod: Pod): void {
    if (pod.phase !== "running") return;
    const now = this.now();
    const member = this.member(pod);
    if (member && this.raft.leaderSeenBy(member)) {
      delete pod.failingSince;
      if (now >= pod.readyFrom) pod.ready = true;
      return;
    }
    pod.failingSince ??= now;
    if (now - pod.failingSince >= UNREADY_AFTER_MS) pod.ready = false;
  }
}
