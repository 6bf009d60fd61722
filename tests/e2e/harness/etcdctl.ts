import { join } from "node:path";
import type { Scheme } from "../writer/config";
import { runCommand, tail } from "./command";
import { fetchCredentials } from "./credentials";
import { CLUSTER, type Scenario } from "./scenario";

interface Status {
  Endpoint: string;
  Status: { header: { member_id: bigint }; leader: bigint };
}

/** Runs etcdctl in the cluster's network, against all members; returns what it printed. */
export async function etcdctl(scenario: Scenario, scheme: Scheme, ...args: string[]): Promise<string> {
  const { kube, namespace, environment, members, folder } = scenario;
  const endpoints = members.map(({ address }) => `${scheme}://${address}`).join(",");
  const flags = [`--endpoints=${endpoints}`, "--command-timeout=8s", "--dial-timeout=3s"];
  if (scheme === "https") {
    const { ca, certificate, key } = await fetchCredentials(kube, namespace, CLUSTER, join(folder, "etcdctl"));
    flags.push(`--cacert=${ca}`, `--cert=${certificate}`, `--key=${key}`);
  }
  const command = [...environment.inNetwork, "etcdctl", ...flags, ...args];
  const { code, stdout, stderr } = await runCommand(command, { env: environment.variables, timeoutMs: 30_000 });
  if (code !== 0) throw new Error(`etcdctl ${args.join(" ")} ended with code ${code}: ${tail(stderr)}`);
  return stdout;
}

/** Name of the member that leads. */
export async function leaderOf(scenario: Scenario, scheme: Scheme): Promise<string> {
  const statuses = await endpointStatus(scenario, scheme);
  const leader = statuses.find(({ Status: { header, leader } }) => header.member_id === leader);
  const host = leader && new URL(leader.Endpoint).hostname;
  const name = scenario.members.find(({ address }) => address.startsWith(`${host}:`))?.name;
  if (!name) throw new Error("no member leads");
  return name;
}

/** Hands leadership to a member, as an operator does. */
export async function moveLeader(scenario: Scenario, scheme: Scheme, to: string): Promise<void> {
  const statuses = await endpointStatus(scenario, scheme);
  const heir = statuses.find(({ Endpoint }) => new URL(Endpoint).hostname.startsWith(`${to}.`));
  if (!heir) throw new Error(`${to} does not answer`);
  await etcdctl(scenario, scheme, "move-leader", heir.Status.header.member_id.toString(16));
}

/** Member IDs have 64 bits: as numbers of JavaScript they would lose some. */
async function endpointStatus(scenario: Scenario, scheme: Scheme): Promise<Status[]> {
  const text = await etcdctl(scenario, scheme, "endpoint", "status", "--write-out=json");
  return JSON.parse(text.replace(/"(member_id|leader)":(\d+)/g, '"$1":"$2"'), (key, value) =>
    key === "member_id" || key === "leader" ? BigInt(value) : value,
  ) as Status[];
}
