import { join } from "node:path";
import { runCommand, tail } from "./command";
import { fetchCredentials } from "./credentials";
import { etcdctl } from "./etcdctl";
import type { Scenario } from "./scenario";

const SCRIPT = `
const { readFileSync } = require("node:fs");
const { Etcd3 } = require("etcd3");
const { hosts, files } = JSON.parse(process.argv[1]);
const credentials = { rootCertificate: readFileSync(files.ca), certChain: readFileSync(files.certificate),
  privateKey: readFileSync(files.key) };
const client = new Etcd3({ hosts, credentials });
(async () => {
  const { header } = await client.maintenance.status();
  const asked = { action: "Activate", memberID: header.member_id, alarm: "Nospace" };
  const { alarms } = await client.maintenance.alarm(asked);
  if (alarms.length === 0) throw new Error("etcd raised none");
  client.close();
})().catch((error) => { console.error(error); process.exit(1); });
`;

/** Raises NOSPACE as a member does whose database has grown to its quota: from then on no write is accepted. */
export async function raiseNoSpace(scenario: Scenario): Promise<void> {
  const { folder, members, environment } = scenario;
  const files = await fetchCredentials(scenario, join(folder, "alarm"));
  const settings = JSON.stringify({ hosts: members.map(({ address }) => `https://${address}`), files });
  const command = [...environment.inNetwork, process.execPath, "-e", SCRIPT, settings];
  const { code, stderr } = await runCommand(command, {
    cwd: process.cwd(),
    env: environment.variables,
    timeoutMs: 30_000,
  });
  if (code !== 0) throw new Error(`the alarm could not be raised: ${tail(stderr)}`);
}

export async function disarm(scenario: Scenario): Promise<void> {
  await etcdctl(scenario, "https", "alarm", "disarm");
}
