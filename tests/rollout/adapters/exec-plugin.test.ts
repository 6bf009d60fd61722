import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { loadKubeConfig } from "../../../rollout/adapters";
import { ApiClient } from "../../../rollout/adapters/api-client";
import { TestAuthority } from "./tls-material";

let authority: TestAuthority;
let server: Server;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "exec-plugin-"));
  authority = new TestAuthority("kubernetes");
  const { certificate, key } = authority.issue("127.0.0.1", ["IP:127.0.0.1"]);
  const settings = { cert: certificate, key, ca: authority.ca, requestCert: true };
  // Answers with the name of the certificate that it was shown.
  server = createServer(settings, (request, response) => {
    response.end(JSON.stringify({ user: (request.socket as TLSSocket).getPeerCertificate().subject?.CN }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

/** A plugin that hands out one certificate after the other, each for no time at all, and keeps what it was told. */
function plugin(names: string[]): string {
  const credentials = names.map((name) => {
    const { certificate, key } = authority.issue(name, [`DNS:${name}`]);
    const status = {
      clientCertificateData: certificate,
      clientKeyData: key,
      expirationTimestamp: "2020-01-01T00:00:00Z",
    };
    return { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
  });
  credentials.forEach((credential, index) => {
    writeFileSync(join(folder, `${index}.json`), JSON.stringify(credential));
  });
  const path = join(folder, "plugin.sh");
  const script = `#!/bin/sh
cd ${folder}
printf %s "$KUBERNETES_EXEC_INFO" > told
n=$(cat turn 2>/dev/null || echo 0)
echo $((n + 1)) > turn
[ -f $n.json ] || n=${names.length - 1}
cat $n.json
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

function client(exec: object): ApiClient {
  const { port } = server.address() as AddressInfo;
  const ca = Buffer.from(authority.ca).toString("base64");
  const kubeconfig = JSON.stringify({
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    clusters: [{ name: "k", cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority-data": ca } }],
    users: [{ name: "u", user: { exec: { apiVersion: "client.authentication.k8s.io/v1", ...exec } } }],
  });
  return new ApiClient(loadKubeConfig({ kubeconfig }));
}

const whoAmI = async (api: ApiClient) =>
  (await api.request<{ user: string }>({ method: "GET", path: "/", verb: "get", object: "me", once: true })).user;

test("the certificate that the plugin handed out last is the one that is shown", async () => {
  const api = client({ command: plugin(["first", "second"]) });
  expect(await whoAmI(api)).toBe("first");
  expect(await whoAmI(api)).toBe("second");
});

test("the plugin is told which cluster it is asked for, if it wants to know", async () => {
  await whoAmI(client({ command: plugin(["first"]), provideClusterInfo: true, env: [{ name: "A", value: "b" }] }));
  const told = JSON.parse(readFileSync(join(folder, "told"), "utf8"));
  expect(told).toMatchObject({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential" });
  expect(told.spec.cluster.server).toMatch(/^https:\/\/127\.0\.0\.1:/);
  expect(Buffer.from(told.spec.cluster["certificate-authority-data"], "base64").toString()).toBe(authority.ca);
});

test("and nothing of the cluster, if it does not", async () => {
  await whoAmI(client({ command: plugin(["first"]) }));
  expect(JSON.parse(readFileSync(join(folder, "told"), "utf8")).spec).toEqual({ interactive: false });
});
