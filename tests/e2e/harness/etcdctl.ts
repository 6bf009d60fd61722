import { join } from "node:path";
import type { Scheme } from "../writer/config";
import { type CommandResult, runCommand, tail } from "./command";
import { fetchCredentials } from "./credentials";
import type { Scenario } from "./scenario";

interface Status {
  Endpoint: string;
  Status: { header: { member_id: bigint }; leader: bigint };
}

/** Runs etcdctl in the cluster's network, against all members; returns what it printed. */
export async function etcdctl(scenario: Scenario, scheme: Scheme, ...args: string[]): Promise<string> {
  return output(args, await run(scenario, scheme, args));
}

function output(args: string[], { code, stdout, stderr }: CommandResult): string {
  if (code !== 0) throw new Error(`etcdctl ${args.join(" ")} ended with code ${code}: ${tail(stderr)}`);
  return stdout;
}

async function run(
  scenario: Scenario,
  scheme: Scheme,
  args: string[],
  endpoints = scenario.members.map(({ address }) => `${scheme}://${address}`),
): Promise<CommandResult> {
  const { environment, folder } = scenario;
  const flags = [`--endpoints=${endpoints.join(",")}`, "--command-timeout=3s", "--dial-timeout=2s"];
  if (scheme === "https") {
    const { ca, certificate, key } = await fetchCredentials(scenario, join(folder, "etcdctl"));
    flags.push(`--cacert=${ca}`, `--cert=${certificate}`, `--key=${key}`);
  }
  const command = [...environment.inNetwork, "etcdctl", ...flags, ...args];
  return runCommand(command, { env: environment.variables, timeoutMs: 30_000 });
}

/** Name of the member that leads. */
export async function leaderOf(scenario: Scenario, scheme: Scheme): Promise<string> {
  const leader = leading(await endpointStatus(scenario, scheme));
  const name = scenario.members.find(({ address }) => leader.Endpoint.endsWith(address))?.name;
  if (!name) throw new Error(`${leader.Endpoint} leads, which is no member of the scenario`);
  return name;
}

/** Hands leadership to a member, as an operator does. */
export async function moveLeader(scenario: Scenario, scheme: Scheme, to: string): Promise<void> {
  const statuses = await endpointStatus(scenario, scheme);
  const heir = statuses.find(({ Endpoint }) => new URL(Endpoint).hostname.startsWith(`${to}.`));
  if (!heir) throw new Error(`${to} does not answer`);
  const args = ["move-leader", heir.Status.header.member_id.toString(16)];
  // It would ask all endpoints who leads, and give up at the first that is down.
  output(args, await run(scenario, scheme, args, [leading(statuses).Endpoint]));
}

function leading(statuses: Status[]): Status {
  const found = statuses.find(({ Status: { header, leader } }) => header.member_id === leader);
  if (!found) throw new Error("no member that answers leads");
  return found;
}

/** Of those that answer. Member IDs have 64 bits: as numbers of JavaScript they would lose some. */
async function endpointStatus(scenario: Scenario, scheme: Scheme): Promise<Status[]> {
  const { stdout } = await run(scenario, scheme, ["endpoint", "status", "--write-out=json"]);
  return JSON.parse(stdout.replace(/"(member_id|leader)":(\d+)/g, '"$1":"$2"'), (key, value) =>
    key === "member_id" || key === "leader" ? BigInt(value) : value,
  ) as Status[];
}
