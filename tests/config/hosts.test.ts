import { ConfigError, classify, hostSans, parseHosts } from "../../config";

const hosts = [
  { name: "controller-0", address: "10.240.0.10" },
  { name: "controller-1", address: "10.240.0.11" },
  { name: "controller-2", address: "10.240.0.12" },
];
const sha256 = "0123456789ab".padEnd(64, "c");

function problemsOf(raw: Record<string, unknown>) {
  try {
    parseHosts(raw);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, rule }) => `${path}: ${rule}`);
    throw error;
  }
  return [];
}

test("defaults: root over SSH with the agent, known_hosts, and the paths of the chapter", () => {
  const { spec, access } = parseHosts({ hosts: hosts.slice(0, 1) });
  expect(spec.replicas).toBe(1);
  expect(spec.hosts).toEqual({
    members: [{ name: "controller-0", address: "10.240.0.10", listenAddress: "10.240.0.10" }],
    binary: "/usr/local/bin/etcd",
    dataDir: "/var/lib/etcd",
    configDir: "/etc/etcd",
    service: "etcd",
    user: "etcd",
  });
  expect(access).toEqual({
    hosts: [{ name: "controller-0", host: "10.240.0.10", port: 22, user: "root", knownHosts: "~/.ssh/known_hosts" }],
  });
});

test("a host's own SSH settings come before the common ones, and a pinned key before known_hosts", () => {
  const hostKey = `SHA256:${"A".repeat(43)}`;
  const own = { ...hosts[0], ssh: { port: "2222", host: "bastion.example.org", hostKey } };
  const { access } = parseHosts({ hosts: [own, hosts[1]], ssh: { user: "debian", privateKeyFile: "~/.ssh/id" } });
  expect(access.hosts[0]).toEqual({
    name: "controller-0",
    host: "bastion.example.org",
    port: 2222,
    user: "debian",
    privateKeyFile: "~/.ssh/id",
    hostKey,
  });
  expect(access.hosts[1]).toMatchObject({ user: "debian", port: 22, knownHosts: "~/.ssh/known_hosts" });
});

test("a binary that is copied is named by its content, so that another one is another service", () => {
  const { spec, access } = parseHosts({ hosts, binary: { file: "./etcd", sha256 } });
  expect(spec.hosts?.binary).toBe("/usr/local/lib/pulumi-etcd/etcd-0123456789ab");
  expect(access.upload).toEqual({ file: "./etcd", sha256 });
});

test("a host that is known by a DNS name listens on all of its addresses", () => {
  const { spec } = parseHosts({ hosts: [{ name: "etcd-a", address: "etcd-a.example.org" }] });
  expect(spec.hosts?.members[0]?.listenAddress).toBe("0.0.0.0");
});

test("the names that a certificate must have: those of every host, and the loopback's", () => {
  const { spec } = parseHosts({ hosts: [...hosts.slice(0, 1), { name: "etcd-b", address: "etcd-b.example.org" }] });
  expect(hostSans(spec.hosts!)).toEqual({
    dnsNames: ["controller-0", "etcd-b", "etcd-b.example.org", "localhost"],
    ipAddresses: ["10.240.0.10", "127.0.0.1", "::1"],
  });
});

test("peer and client use the server's certificate unless they have their own", () => {
  const folders = (own?: ("server" | "peer" | "client")[]) =>
    parseHosts({ hosts, tls: {} }, own).spec.tls?.certificates.map(({ alias, secretName }) => `${alias}=${secretName}`);
  expect(folders()).toEqual(["server=server", "peer=server", "client=server"]);
  expect(folders(["server", "client"])).toEqual(["server=server", "peer=server", "client=client"]);
});

test.each([
  [{ hosts: [] }, "etcd:hosts: must have one host for each member, 1 to 7"],
  [{}, "etcd:hosts: is required"],
  [{ hosts: [{ name: "a b", address: "10.0.0.1" }] }, "etcd:hosts[0].name: must be a DNS name"],
  [{ hosts: [hosts[0], { ...hosts[1], address: "10.240.0.10" }] }, "etcd:hosts[1].address: must be of one host only"],
  [{ hosts, dataDir: "var/lib" }, "etcd:dataDir: must be an absolute path"],
  [{ hosts, dataDir: "/var/lib/../etcd" }, "etcd:dataDir: must be an absolute path"],
  [{ hosts, dataDir: "/var/lib/$(reboot)" }, "etcd:dataDir: must be an absolute path"],
  [{ hosts, service: "etcd;reboot" }, "etcd:service: must be the name of a systemd unit"],
  [{ hosts, user: "Etcd" }, "etcd:user: must be the name of a user"],
  [{ hosts, binary: { file: "./etcd" } }, "etcd:binary.sha256: is required"],
  [{ hosts, binary: { sha256 } }, "etcd:binary.file: is required"],
  [{ hosts, binary: { file: "./etcd", sha256, path: "/usr/bin/etcd" } }, "etcd:binary.path: has no meaning"],
  [{ hosts: [{ ...hosts[0], ssh: { hostKey: "SHA256:short" } }] }, "etcd:hosts[0].ssh.hostKey: must be a fingerprint"],
  [{ hosts, tls: { issuerRef: { name: "ca" } } }, "etcd:tls.issuerRef: is not a key"],
  [{ hosts, extraArgs: { "data-dir": "/x" } }, "etcd:extraArgs.data-dir: is set by the product itself"],
  [
    { hosts, tls: { minVersion: "TLS1.3", cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"] } },
    "etcd:tls.cipherSuites: has no meaning",
  ],
])("refuses %j", (raw, problem) => {
  expect(problemsOf(raw).join("\n")).toContain(problem);
});

test("a private key in the place of its path is refused, and not shown", () => {
  const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----";
  const attempt = () => parseHosts({ hosts, ssh: { privateKeyFile: key } });
  expect(attempt).toThrow(/etcd:ssh.privateKeyFile: must be the path of a file, never its content/);
  expect(attempt).not.toThrow(/c2VjcmV0/);
});

test.each([
  [
    "another address",
    { hosts: [{ ...hosts[0], address: "10.0.0.9" }, hosts[1], hosts[2]] },
    "etcd:hosts[controller-0].address",
  ],
  ["fewer hosts", { hosts: hosts.slice(0, 2) }, "etcd:replicas"],
  ["another data directory", { hosts, dataDir: "/data/etcd" }, "etcd:dataDir"],
  ["another folder", { hosts, configDir: "/opt/etcd" }, "etcd:configDir"],
  ["another unit", { hosts, service: "etcd-main" }, "etcd:service"],
])("a running cluster refuses %s", (_what, next, path) => {
  const change = () => classify(parseHosts({ hosts }).spec, parseHosts(next).spec);
  expect(change).toThrow(ConfigError);
  expect(change).toThrow(path);
});

test("another binary or user is a change of the template", () => {
  const old = parseHosts({ hosts }).spec;
  expect(classify(old, parseHosts({ hosts, user: "root" }).spec).kind).toBe("template");
  expect(classify(old, parseHosts({ hosts, binary: { file: "./etcd", sha256 } }).spec).kind).toBe("template");
  expect(classify(old, parseHosts({ hosts, tls: {} }).spec).kind).toBe("add");
});
