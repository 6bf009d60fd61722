import type { ClusterView } from "./view";

/** What etcd ends of when its data is gone while the others know it as a member that had data. */
const LOST = /has already been bootstrapped|tocommit\(\d+\) is out of range/;

/** How a member whose data is gone is replaced, as etcd's documentation of disaster recovery has it. */
export const REPLACE =
  "its data is gone, and it cannot join again as it is: take it out of the membership and add it anew (etcdctl member remove, etcdctl member add), and start it once with an empty volume, --initial-cluster-state=existing and the --initial-cluster that member add has printed";

/** Why a member does not start, and what to do where that needs a hand. */
export function withAdvice(trouble: string): string {
  return LOST.test(trouble) ? `${trouble}; ${REPLACE}` : trouble;
}

/** Whether what answers in a member's place is none of the members: it has lost its data, and begun anew. */
export async function isStranger(view: ClusterView, name: string): Promise<boolean> {
  try {
    const pods = await view.pods();
    const pod = pods.find((candidate) => candidate.name === name);
    if (!pod) return false;
    const id = await view.identity(pod);
    const members = await view.members(pods);
    return !members.some((member) => member.id === id);
  } catch {
    // What does not answer is not judged.
    return false;
  }
}
