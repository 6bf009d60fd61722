import { join } from "node:path";
import type { Scheme } from "../writer/config";
import { type CommandResult, runCommand, tail } from "./command";
import { fetchCredentials } from "./credentials";
import { CLUSTER, type Scenario } from "./scenario";

interface Status {
  Endpoint: string;
  Status: { header: { member_id: bigint }; leader: bigint };
}

/** Runs etcdctl in the cluster's network, against all members; returns what it printed. */
export async function etcdctl(scenario: Scenario, scheme: Scheme, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(scenario, scheme, args);
  if (code !== 0) throw new Error(`etcdctl ${args.join(" ")} ended with code ${code}: ${tail(stderr)}`);
  return stdout;
}

async function run(scenario: Scenario, scheme: Scheme, args: string[]): Promise<CommandResult> {
  const { kube, namespace, environment, members, folder } = scenario;
  const endpoints = members.map(({ address }) => `${scheme}://${address}`).join(",");
  const flags = [`--endpoints=${endpoints}`, "--command-timeout=5s", "--dial-timeout=2s"];
  if (scheme === "https") {
    const { ca, certificate, key } = await fetchCredentials(kube, namespace, CLUSTER, join(folder, "etcdctl"));
    flags.push(`--cacert=${ca}`, `--cert=${certificate}`, `--key=${key}`);
  }
  const command = [...environment.inNetwork, "etcdctl", ...flags, ...args];
  return runCommand(command, { env: environment.variables, timeoutMs: 30_000 });
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

/** Of those that answer. Member IDs have 64 bits: as numbers of JavaScript they would lose some. */
async function endpointStatus(scenario: Scenario, scheme: Scheme): Promise<Status[]> {
  const { stdout } = await run(scenario, scheme, ["endpoint", "status", "--write-out=json"]);
  return JSON.parse(stdout.replace(/"(member_id|leader)":(\d+)/g, '"$1":"$2"'), (key, value) =>
    key === "member_id" || key === "leader" ? BigInt(value) : value,
  ) as Status[];
}
