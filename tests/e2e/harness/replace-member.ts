import type { Scheme } from "../writer/config";
import { eventually } from "./command";
import { etcdctl } from "./etcdctl";
import { editMemberArgs, memberArgs } from "./member-args";
import type { Scenario } from "./scenario";

/**
 * What has to be done by hand for a member whose data is gone, as etcd's documentation has it: out of the membership,
 * into it again, and a start that joins a cluster instead of making one. The next update puts the flags back.
 */
export async function replaceMember(scenario: Scenario, scheme: Scheme, member: string): Promise<void> {
  await etcdctl(scenario, scheme, "member", "remove", await memberId(scenario, scheme, member));
  // Registered as the template has it listen, which in the middle of a change is not as it was before.
  const peerUrl = advertisedUrl(scenario, await memberArgs(scenario), member);
  const added = await etcdctl(scenario, scheme, "member", "add", member, `--peer-urls=${peerUrl}`);
  const [, membership] = /^ETCD_INITIAL_CLUSTER="(.*)"$/m.exec(added) ?? [];
  if (!membership) throw new Error(`etcdctl did not say how to join: ${added}`);
  await editMemberArgs(scenario, (args) =>
    args.map((arg) =>
      arg
        .replace(/^(--initial-cluster-state)=.*$/, "$1=existing")
        // A member that joins refuses to, unless this is what the membership says of all of them.
        .replace(/^(--initial-cluster)=.*$/, `$1=${membership}`),
    ),
  );
  // What it has written since may be the beginning of a cluster of its own: it starts with nothing.
  await loseVolume(scenario, member);
  await eventually(`${member} to have joined`, 90_000, async () =>
    (await scenario.pods()).find(({ name, ready }) => name === member && ready) ? true : undefined,
  );
}

/** Takes a member's volume and pod away; others are made in their place. */
export async function loseVolume({ kube, namespace }: Scenario, member: string): Promise<void> {
  // It goes once no pod mounts it any more.
  await kube.delete("v1", "PersistentVolumeClaim", `data-${member}`, namespace);
  await kube.delete("v1", "Pod", member, namespace);
}

async function memberId(scenario: Scenario, scheme: Scheme, member: string): Promise<string> {
  const list = await etcdctl(scenario, scheme, "member", "list");
  const id = new RegExp(`^([0-9a-f]+), \\w+, ${member}, `, "m").exec(list)?.[1];
  if (!id) throw new Error(`${member} is not in the membership: ${list}`);
  return id;
}

function advertisedUrl({ members }: Scenario, args: string[], member: string): string {
  const scheme = args.map((arg) => /^--initial-advertise-peer-urls=(https?):/.exec(arg)?.[1]).find(Boolean);
  const address = members.find(({ name }) => name === member)?.address;
  if (!scheme || !address) throw new Error(`it is not known where ${member} is to listen: ${args.join(" ")}`);
  return `${scheme}://${address.replace(/:2379$/, ":2380")}`;
}
