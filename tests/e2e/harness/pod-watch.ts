import { Watch } from "@kubernetes/client-node";
import { sleep } from "./command";
import type { Kube, LiveObject } from "./kube";
import type { PodEvent, PodState, SecretEvent } from "./timeline";

/** Follows the pods and Secrets of a namespace from now until it is stopped. */
export class NamespaceWatch {
  readonly pods: PodEvent[] = [];
  readonly deletedSecrets: SecretEvent[] = [];
  /** Set when events may have been missed: then nothing may be concluded from those that were not. */
  gap: string | undefined;
  readonly #kube: Kube;
  readonly #namespace: string;
  readonly #open = new Set<AbortController>();
  #stopped = false;

  constructor(kube: Kube, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
  }

  async start(): Promise<void> {
    const pods = await this.#kube.snapshot("v1", "Pod", this.#namespace);
    for (const pod of pods.items) this.#record(pod, false, true);
    await this.#follow("pods", pods.version, (phase, object) => this.#record(object, phase === "DELETED", false));
    const secrets = await this.#kube.snapshot("v1", "Secret", this.#namespace);
    await this.#follow("secrets", secrets.version, (phase, object) => {
      if (phase === "DELETED") {
        this.deletedSecrets.push({ at: Date.now(), version: versionOf(object), name: object.metadata.name });
      }
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const controller of this.#open) controller.abort();
  }

  #record(object: LiveObject, gone: boolean, initial: boolean): void {
    const pod = memberPod(object);
    if (pod) this.pods.push({ at: Date.now(), version: versionOf(object), initial, gone, pod });
  }

  /** A watch ends after a while by itself, or with the API server; it is taken up again where it ended. */
  async #follow(plural: string, from: string, handle: (phase: string, object: LiveObject) => void): Promise<void> {
    let resourceVersion = from;
    const watch = new Watch(this.#kube.config);
    const path = `/api/v1/namespaces/${this.#namespace}/${plural}`;
    const begin = async (): Promise<void> => {
      // It may have ended before it is known how to end it.
      let ended = false;
      let controller: AbortController | undefined;
      controller = await watch.watch(
        path,
        { resourceVersion, allowWatchBookmarks: true },
        (phase: string, object: LiveObject) => {
          if (this.#stopped) return;
          if (phase === "ERROR") {
            this.gap = `the watch on ${plural} broke off: ${JSON.stringify(object)}`;
            return;
          }
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (phase !== "BOOKMARK") handle(phase, object);
        },
        () => {
          ended = true;
          if (controller) this.#open.delete(controller);
          if (!this.#stopped) void this.#again(plural, begin);
        },
      );
      if (!ended) this.#open.add(controller);
      if (this.#stopped) controller.abort();
    };
    await begin();
  }

  /** The API server may be away for a while. */
  async #again(plural: string, begin: () => Promise<void>): Promise<void> {
    let last = "";
    for (const end = Date.now() + 120_000; Date.now() < end && !this.#stopped; ) {
      await sleep(200);
      try {
        return await begin();
      } catch (error) {
        last = (error as Error).message;
      }
    }
    if (!this.#stopped) this.gap = `the watch on ${plural} could not be taken up again: ${last}`;
  }
}

interface PodBody {
  spec?: {
    volumes?: {
      secret?: { secretName?: string };
      projected?: { sources?: { secret?: { name?: string } }[] };
    }[];
  };
  status?: {
    conditions?: { type: string; status: string }[];
    containerStatuses?: { restartCount: number }[];
  };
}

/** Undefined for pods that are no members. */
export function memberPod(object: LiveObject): PodState | undefined {
  const { metadata } = object;
  if (metadata.labels?.["app.kubernetes.io/component"] !== "member") return undefined;
  const { spec, status } = object as PodBody;
  const secrets = (spec?.volumes ?? []).flatMap((volume) => [
    volume.secret?.secretName,
    ...(volume.projected?.sources ?? []).map((source) => source.secret?.name),
  ]);
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    ready: status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
    terminating: metadata.deletionTimestamp !== undefined,
    revision: metadata.labels?.["controller-revision-hash"] ?? "",
    containerRestarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
    secrets: secrets.filter((name) => name !== undefined),
  };
}

function versionOf(object: LiveObject): number {
  return Number(object.metadata.resourceVersion);
}
