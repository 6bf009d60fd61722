import { ConfigError, parseHosts } from "../../config";

const hosts = [
  { name: "controller-0", address: "10.240.0.10" },
  { name: "controller-1", address: "10.240.0.11" },
];

function refused(tls: unknown, handedIn: ("server" | "peer")[] = []): string[] {
  try {
    parseHosts({ hosts, tls }, handedIn);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, rule }) => `${path} ${rule}`);
    throw error;
  }
  return [];
}

test("a CA of its own makes certificates with the names of every host, and the user's on top", () => {
  const certificates = [{ alias: "server", commonName: "kubernetes", dnsNames: ["kubernetes.default"] }];
  const { own, spec } = parseHosts({ hosts, tls: { ca: {}, certificates } });
  const [server, peer, client] = own!.certificates;
  expect(server?.commonName).toBe("kubernetes");
  expect(server?.dnsNames).toEqual(["controller-0", "controller-1", "localhost", "kubernetes.default"]);
  expect(peer?.ipAddresses).toEqual(["10.240.0.10", "10.240.0.11", "127.0.0.1", "::1"]);
  expect([client?.commonName, client?.dnsNames, client?.ipAddresses]).toEqual(["root", [], []]);
  expect(spec.tls?.certificates.map(({ secretName }) => secretName)).toEqual(["server", "peer", "client"]);
  // The walk knows no source of certificates: it is handed what was made.
  expect(spec.tls?.ca).toBeUndefined();
});

test("one certificate for server and client is one folder on the hosts", () => {
  const certificates = [{ alias: "client", sameAs: "server" }];
  const { own, spec } = parseHosts({ hosts, tls: { ca: {}, certificates } });
  expect(own?.certificates.find(({ alias }) => alias === "client")).toMatchObject({ sameAs: "server" });
  expect(spec.tls?.certificates.map(({ secretName }) => secretName)).toEqual(["server", "peer", "server"]);
});

test.each<[string, unknown, ("server" | "peer")[], string]>([
  ["both sources", { ca: {} }, ["server"], "etcd:tls.ca has no meaning beside certificates"],
  ["wishes for what is handed in", { certificates: [{ alias: "server" }] }, ["server"], "etcd:tls.certificates has no"],
  ["a token for what is handed in", { rotate: "1" }, ["server"], "etcd:tls.rotate has no meaning without etcd:tls.ca"],
  ["what a CA of its own cannot make", { ca: { duration: "90m" } }, [], "etcd:tls.ca.duration must be of whole hours"],
])("refused: %s", (_, tls, handedIn, problem) => {
  expect(refused(tls, handedIn)).toContainEqual(expect.stringContaining(problem));
});
