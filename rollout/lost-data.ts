import type { ClusterView } from "./view";

/** What etcd ends of when its data is gone while the others know it as a member that had data. */
const LOST = /has already been bootstrapped|tocommit\(\d+\) is out of range/;

/** How a member whose data is gone is replaced, as etcd's documentation of disaster recovery has it. */
export const REPLACE =
  "its data is gone, and it cannot join again as it is: take it out of the membership and add it anew (etcdctl member remove, etcdctl member add), and start it once with an empty volume, --initial-cluster-state=existing and the --initial-cluster that member add has printed";

/** What etcd ends of when a member comes to a release that its data is not for, and the way out. */
const OTHER_RELEASE: [trouble: RegExp, advice: string][] = [
  [
    /unmarshal should never fail/,
    "its log has entries of etcd 3.5, which 3.7 cannot read: set etcd:version back to 3.6 and update, then set it to 3.7 again; that update lets every member write a snapshot first",
  ],
  [
    /disallowed (custom content in v2store|v2 WAL)/,
    "clients of the v2 API have left data, and etcd 3.6 does not start on it: set etcd:version back to 3.5, and see `etcdutl check v2store` and etcd's guide of the migration from v2",
  ],
  [
    /invalid downgrade/,
    "the cluster speaks a newer release: set etcd:version back to that, and update; going down is an update of its own",
  ],
];

/** Whether a member has ended because its data is gone. */
export function hasLostData(trouble: string): boolean {
  return LOST.test(trouble);
}

/** Why a member does not start, and what to do where that needs a hand. */
export function withAdvice(trouble: string): string {
  if (hasLostData(trouble)) return `${trouble}; ${REPLACE}`;
  const [, advice] = OTHER_RELEASE.find(([pattern]) => pattern.test(trouble)) ?? [];
  return advice === undefined ? trouble : `${trouble}; ${advice}`;
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
