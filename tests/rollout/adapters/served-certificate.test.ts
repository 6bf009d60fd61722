import { type AddressInfo, connect } from "node:net";
import { createServer, type Server, type TlsOptions } from "node:tls";
import { servedCertificate } from "../../../rollout/adapters/served-certificate";
import type { Transport } from "../../../rollout/adapters/transport";
import { TestAuthority } from "./tls-material";

const authority = new TestAuthority("ca");
const server = authority.issue("server", ["DNS:localhost"]);
const client = authority.issue("client", []);
const servers: Server[] = [];

afterAll(() => {
  for (const each of servers) each.close();
  authority.remove();
});

/** As etcd listens: whoever shows no certificate of the CA is refused. */
async function served(versions: TlsOptions, credentials: Parameters<typeof servedCertificate>[3]): Promise<string> {
  const own = { key: server.key, cert: server.certificate, ca: authority.ca };
  const listening = createServer({ ...own, requestCert: true, rejectUnauthorized: true, ...versions });
  listening.on("tlsClientError", () => undefined);
  listening.on("secureConnection", (socket) => socket.on("error", () => undefined));
  servers.push(listening);
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as AddressInfo;
  const transport = { connect: async () => connect(port, "127.0.0.1") } as unknown as Transport;
  const pod = { namespace: "data", pod: "db-0", host: "localhost" };
  return servedCertificate(transport, pod, port, credentials, 3000);
}

const shown = { caBundle: authority.ca, certificate: client.certificate, key: client.key };

test("TLS 1.2 alone: the leaf shows to who has a certificate, and to nobody else", async () => {
  const versions = { maxVersion: "TLSv1.2" } as const;
  expect((await served(versions, shown)).trim()).toBe(server.certificate.trim());
  await expect(served(versions, undefined)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
});

test("TLS 1.3: the leaf shows to anybody", async () => {
  expect((await served({}, undefined)).trim()).toBe(server.certificate.trim());
  expect((await served({}, shown)).trim()).toBe(server.certificate.trim());
});
