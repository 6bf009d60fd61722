import type { LivePod } from "../ports";
import { lastWords } from "./last-words";

interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { reason?: string; message?: string; exitCode: number };
}

interface ContainerStatus {
  name: string;
  ready: boolean;
  started?: boolean;
  state?: ContainerState;
  lastState?: ContainerState;
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** The part of a Pod that is looked at. */
export interface PodObject {
  metadata: {
    name: string;
    uid: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    ownerReferences?: { uid: string; controller?: boolean }[];
  };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}

/** States that every pod passes through, and that say nothing until they last. */
const passing = new Set(["ContainerCreating", "PodInitializing"]);

export function livePod(pod: PodObject): LivePod {
  const { metadata } = pod;
  const terminating = metadata.deletionTimestamp !== undefined;
  const trouble = podTrouble(pod);
  return {
    name: metadata.name,
    uid: metadata.uid,
    ordinal: Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? Number.NaN),
    revision: metadata.labels?.["controller-revision-hash"] ?? "",
    ready: !terminating && condition(pod, "Ready")?.status === "True",
    terminating,
    annotations: metadata.annotations ?? {},
    ...(trouble !== undefined && { trouble }),
  };
}

/**
 * Why a pod does not run, or runs and is not ready: the reason that Kubernetes gives, a colon, and its words.
 * Undefined for a ready pod, for one that is being deleted, and for one that is merely being created.
 */
export function podTrouble(pod: PodObject): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || condition(pod, "Ready")?.status === "True") return undefined;
  const scheduled = condition(pod, "PodScheduled");
  if (scheduled?.status === "False") return words(scheduled.reason ?? "Unschedulable", scheduled.message);
  if (pod.status?.phase === "Failed" && pod.status.reason) return words(pod.status.reason, pod.status.message);
  for (const container of containers(pod)) {
    const trouble = waitingTrouble(container) ?? terminatedTrouble(container);
    if (trouble !== undefined) return trouble;
  }
  return probeTrouble(pod);
}

/** Whether the pod waits for something that only its events can name, such as a Secret to mount. */
export function isHeldUp(pod: PodObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || condition(pod, "Ready")?.status === "True") return false;
  return containers(pod).every(
    ({ state }) => !state?.waiting || passing.has(state.waiting.reason ?? "ContainerCreating"),
  );
}

function waitingTrouble({ name, state, lastState }: ContainerStatus): string | undefined {
  const waiting = state?.waiting;
  if (!waiting?.reason || passing.has(waiting.reason)) return undefined;
  const last = lastState?.terminated;
  const before = last ? `; it last ended with exit code ${last.exitCode}${lastWords(last.message)}` : "";
  return `${words(waiting.reason, waiting.message ?? `container ${name}`)}${before}`;
}

function terminatedTrouble({ name, state }: ContainerStatus): string | undefined {
  const ended = state?.terminated;
  if (!ended || ended.exitCode === 0) return undefined;
  const code = `container ${name} ended with exit code ${ended.exitCode}`;
  return words(ended.reason ?? "Error", `${code}${lastWords(ended.message)}`);
}

function probeTrouble(pod: PodObject): string | undefined {
  const running = (pod.status?.containerStatuses ?? []).find(({ ready, state }) => state?.running && !ready);
  if (!running) return undefined;
  const probe = running.started === false ? "startup" : "readiness";
  return words("ContainersNotReady", `container ${running.name} runs, its ${probe} probe has not succeeded yet`);
}

function containers(pod: PodObject): ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function condition(pod: PodObject, type: string): Condition | undefined {
  return pod.status?.conditions?.find((candidate) => candidate.type === type);
}

function words(reason: string, message: string | undefined): string {
  return message ? `${reason}: ${message.trim()}` : reason;
}
