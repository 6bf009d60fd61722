/** A member's pod at one moment. */
export interface PodState {
  name: string;
  uid: string;
  ready: boolean;
  /** Being deleted: it may answer still, but is on its way out. */
  terminating: boolean;
  /** Controller revision that it was made from. */
  revision: string;
  /** How often its containers have been started again: a crash, or a probe that failed. */
  containerRestarts: number;
  /** Secrets that it mounts. */
  secrets: string[];
}

/** A change of a pod, in the order in which the API server made them. */
export interface PodEvent {
  /** When it was seen, in milliseconds since the epoch. */
  at: number;
  /** Resource version: orders events of different kinds too. */
  version: number;
  /** Part of the state that the watch began with. */
  initial: boolean;
  gone: boolean;
  pod: PodState;
}

export interface SecretEvent {
  at: number;
  version: number;
  name: string;
}

/** One pod of a member taken over by the next. */
export interface Restart {
  member: string;
  /** When the old pod was no longer ready, began to end, or was gone. */
  downAt: number;
  /** When the new pod was ready; absent if it never was. */
  readyAt?: number;
  revision: string;
}

export interface ObservedPass {
  revision: string;
  restarts: Restart[];
}

/** Moments at which more than one member was not ready, was ending or had no pod. */
export function outages(events: PodEvent[], members: string[]): { at: number; down: string[] }[] {
  const current = new Map<string, PodState>();
  const found: { at: number; down: string[] }[] = [];
  events.forEach((event, index) => {
    track(current, event);
    // What the watch began with arrives pod by pod, and is one state.
    if (event.initial && events[index + 1]?.initial) return;
    const down = members.filter((member) => !isUp(current.get(member)));
    if (down.length > 1) found.push({ at: event.at, down });
  });
  return found;
}

/** Every restart, in the order in which members went down. */
export function restarts(events: PodEvent[]): Restart[] {
  const current = new Map<string, PodState>();
  const downSince = new Map<string, number>();
  const found: Restart[] = [];
  for (const event of events) {
    const { name, uid, revision } = event.pod;
    const before = current.get(name);
    const isNew = !event.gone && before?.uid !== uid;
    if (isNew && !event.initial) found.push({ member: name, downAt: downSince.get(name) ?? event.at, revision });
    track(current, event);
    const up = isUp(current.get(name));
    if (!up && !downSince.has(name)) downSince.set(name, event.at);
    if (!up) continue;
    downSince.delete(name);
    const open = found.findLast((restart) => restart.member === name);
    if (open && open.readyAt === undefined) open.readyAt = event.at;
  }
  return found.sort((a, b) => a.downAt - b.downAt);
}

/** Each pass brings members onto a revision of its own. */
export function passes(all: Restart[]): ObservedPass[] {
  const found: ObservedPass[] = [];
  for (const restart of all) {
    const last = found.at(-1);
    if (last?.revision === restart.revision) last.restarts.push(restart);
    else found.push({ revision: restart.revision, restarts: [restart] });
  }
  return found;
}

/** Secrets that were deleted while a pod that mounts them was there. */
export function deletedUnderPods(deletions: SecretEvent[], pods: PodEvent[]): string[] {
  return deletions.flatMap((deletion) => {
    const present = new Map<string, PodState>();
    for (const event of pods) {
      if (event.version > deletion.version) break;
      if (event.gone) present.delete(event.pod.uid);
      else present.set(event.pod.uid, event.pod);
    }
    return [...present.values()]
      .filter((pod) => pod.secrets.includes(deletion.name))
      .map((pod) => `${deletion.name} was deleted while ${pod.name} mounted it`);
  });
}

function track(current: Map<string, PodState>, { gone, pod }: PodEvent): void {
  if (!gone) current.set(pod.name, pod);
  else if (current.get(pod.name)?.uid === pod.uid) current.delete(pod.name);
}

function isUp(pod: PodState | undefined): boolean {
  return pod?.ready === true && !pod.terminating;
}
