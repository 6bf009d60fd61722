import { join } from "node:path";
import { runCommand, tail } from "./command";
import { fetchCredentials } from "./credentials";
import type { Scenario } from "./scenario";

/** What came of one handshake with the client port. */
export interface Handshake {
  protocol?: string;
  cipher?: string;
  error?: string;
}

const SCRIPT = `
const { readFileSync } = require("node:fs");
const { connect } = require("node:tls");
const { host, maxVersion, files } = JSON.parse(process.argv[1]);
const options = { host, port: 2379, servername: host, maxVersion, ca: readFileSync(files.ca),
  cert: readFileSync(files.certificate), key: readFileSync(files.key), timeout: 5000 };
const socket = connect(options, () => {
  console.log(JSON.stringify({ protocol: socket.getProtocol(), cipher: socket.getCipher().name }));
  socket.destroy();
});
socket.on("timeout", () => socket.destroy(new Error("no answer")));
socket.on("error", (error) => console.log(JSON.stringify({ error: error.message })));
`;

/** Shakes hands with every member as a client that knows no newer version of TLS than the given one. */
export async function shakeHands(scenario: Scenario, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<Handshake[]> {
  const { folder } = scenario;
  const files = await fetchCredentials(scenario, join(folder, "handshake"));
  const { inNetwork, variables } = scenario.environment;
  return Promise.all(
    scenario.members.map(async ({ address }) => {
      const settings = JSON.stringify({ host: address.replace(/:\d+$/, ""), maxVersion, files });
      const command = [...inNetwork, process.execPath, "-e", SCRIPT, settings];
      const { code, stdout, stderr } = await runCommand(command, { env: variables, timeoutMs: 30_000 });
      if (code !== 0) throw new Error(`no handshake could be tried: ${tail(stderr)}`);
      return JSON.parse(stdout) as Handshake;
    }),
  );
}
