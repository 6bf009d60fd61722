import type { ApiClient } from "./api-client";
import { KubeError } from "./kube-error";
import type { PodObject } from "./live-pod";

interface Event {
  type?: string;
  reason?: string;
  message?: string;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { lastObservedTime?: string } | null;
}

/** Younger pods are left alone: a volume that is not there in the first moment is no news. */
const patienceMs = 5_000;

/**
 * The newest warning about a pod, such as `FailedMount: secret "etcd-server-cert" not found`. What keeps a pod
 * from being created, and what a probe saw, is told nowhere else. Undefined where there is none, or where events may not be read.
 */
export async function newestWarning(api: ApiClient, namespace: string, pod: PodObject): Promise<string | undefined> {
  const { name, uid, creationTimestamp } = pod.metadata;
  if (creationTimestamp && Date.now() - Date.parse(creationTimestamp) < patienceMs) return undefined;
  try {
    const { items = [] } = await api.request<{ items?: Event[] }>({
      method: "GET",
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
      query: { fieldSelector: `involvedObject.uid=${uid},type=Warning` },
      verb: "list",
      object: `events of Pod ${namespace}/${name}`,
      once: true,
    });
    const newest = items.sort((a, b) => seenAt(a) - seenAt(b)).at(-1);
    return newest && `${newest.reason}: ${newest.message?.trim()}`;
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

function seenAt(event: Event): number {
  return Date.parse(event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? "") || 0;
}
