import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseHosts } from "../../config";
import {
  annotationsIn,
  BRIDGE,
  cloudInit,
  environmentOf,
  filesOf,
  type HostSet,
  installScript,
  PLAIN,
  renderWorkload,
  TEMPLATE_HASH,
  TLS,
  trustRevision,
} from "../../manifests";
import { CA_A, CA_B } from "./pem";

const hardWay = { name: "kubernetes", hosts: [{ name: "controller", address: "10.240.0.10" }], tls: {} };
const three = {
  hosts: [0, 1, 2].map((i) => ({ name: `etcd-${i}`, address: `10.0.0.1${i}` })),
  tls: {},
};
const ca = CA_A;
const key = "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n";
const material = { ca, leaves: { server: { certificate: CA_B, key } } };

function unitsOf(raw: Record<string, unknown>, stage = TLS): Record<string, string> {
  const template = { stage, ...(stage !== PLAIN && { trustRevision: trustRevision(ca) }) };
  return (renderWorkload(parseHosts(raw).spec, template) as HostSet).spec.template.units;
}

test("the chapter's member: its flags, its restart policy, one certificate for server, peers and clients", () => {
  expect(unitsOf(hardWay).controller).toMatchSnapshot();
});

test("a member of three on the bridge", () => {
  expect(unitsOf(three, BRIDGE)["etcd-1"]).toMatchSnapshot();
});

test("a member of three in plaintext has no TLS flag", () => {
  const unit = unitsOf(three, PLAIN)["etcd-2"]!;
  expect(unit).toMatchSnapshot();
  expect(unit).not.toMatch(/cert-file|trusted-ca|https:..10/);
});

test("every service says in its environment which template it was made from, the same for all members", () => {
  const workload = renderWorkload(parseHosts(three).spec, { stage: BRIDGE, trustRevision: "abc" }) as HostSet;
  const { annotations } = workload.spec.template.metadata;
  expect(annotations[TEMPLATE_HASH]).toMatch(/^[0-9a-f]{16}$/);
  for (const unit of Object.values(workload.spec.template.units))
    expect(annotationsIn(environmentOf(unit))).toEqual(annotations);
});

test("one member's difference changes the hash of all", () => {
  const hash = (raw: Record<string, unknown>) =>
    (renderWorkload(parseHosts(raw).spec, { stage: PLAIN }) as HostSet).spec.template.metadata.annotations[
      TEMPLATE_HASH
    ];
  const [first, ...others] = three.hosts;
  expect(hash({ hosts: [{ ...first, listenAddress: "0.0.0.0" }, ...others] })).not.toBe(hash({ hosts: three.hosts }));
});

test("what systemd would expand is escaped", () => {
  const extraEnv = [{ name: "NOTE", value: 'say "50%" \\ $HOME' }];
  const unit = unitsOf({ ...hardWay, extraArgs: { "log-outputs": "/var/log/a b,$X" }, extraEnv }).controller!;
  expect(unit).toContain('"--log-outputs=/var/log/a b,$$X"');
  expect(unit).toContain('Environment="NOTE=say \\"50%%\\" \\\\ $HOME"');
  expect(environmentOf(unit)).toContain('NOTE=say "50%" \\ $HOME');
});

test("hosts by DNS name and by IPv6 listen on addresses, and are advertised as URLs have them", () => {
  const hosts = [
    { name: "a", address: "a.example.org" },
    { name: "b", address: "fd00::2" },
  ];
  const { a, b } = unitsOf({ hosts }, PLAIN);
  expect(a).toContain("--listen-client-urls=http://0.0.0.0:2379 ");
  expect(a).toContain("--advertise-client-urls=http://a.example.org:2379 ");
  expect(b).toContain('"--listen-client-urls=http://[fd00::2]:2379,http://127.0.0.1:2379" ');
  expect(b).toContain('"--initial-cluster=a=http://a.example.org:2380,b=http://[fd00::2]:2380" ');
});

test("keys are for etcd's group alone, and the client's for root alone", () => {
  const { spec } = parseHosts(hardWay, ["server", "client"]);
  const own = { ...material, leaves: { ...material.leaves, client: material.leaves.server } };
  const modes = filesOf(spec, 0, own).map(({ path, mode, owner }) => `${mode} ${owner} ${path}`);
  expect(modes).toEqual([
    "0644 root:root /etc/etcd/tls/ca/ca.crt",
    `0644 root:root /etc/etcd/tls/ca/members-${trustRevision(ca)}.crt`,
    "0644 root:etcd /etc/etcd/tls/server/tls.crt",
    "0640 root:etcd /etc/etcd/tls/server/tls.key",
    "0644 root:root /etc/etcd/tls/client/tls.crt",
    "0600 root:root /etc/etcd/tls/client/tls.key",
    "0644 root:root /etc/etcd/pulumi-etcd/cluster.json",
    "0644 root:root /etc/etcd/pulumi-etcd/next.service",
    "0644 root:root /etc/systemd/system/etcd.service",
  ]);
});

describe("the script for hosts without SSH", () => {
  const script = installScript(parseHosts(hardWay).spec, 0, material, "org/project/stack");

  test("is this", () => {
    expect(script).toMatchSnapshot();
  });

  test("is read by the shell as a whole", () => {
    expect(spawnSync("sh", ["-n"], { input: script, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  test("leaves a member of several alone that runs with other settings", () => {
    const { spec } = parseHosts(three);
    expect(installScript(spec, 0, material)).toContain("stop 'etcd-0 is installed with other settings");
    expect(script).not.toContain("is installed with other settings");
  });

  test("comes to cloud-init in one piece, whatever is in it", () => {
    const data = cloudInit(script);
    expect(data.startsWith("#cloud-config\n")).toBe(true);
    const content = /content: (\S+)$/m.exec(data)?.[1] ?? "";
    expect(Buffer.from(content, "base64").toString()).toBe(script);
  });
});

const analyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].find((path) => existsSync(path));
const describeAnalyzed = analyze ? describe : describe.skip;

describeAnalyzed("systemd-analyze verify", () => {
  const folder = mkdtempSync(join(tmpdir(), "etcd-units-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // Root and a program that is there: neither etcd nor its user need to be on this machine.
  const here = { user: "root", binary: { path: "/bin/true" } };

  function verify(name: string, unit: string): string {
    const file = join(folder, name);
    writeFileSync(file, unit);
    const { status, stdout, stderr } = spawnSync(analyze!, ["verify", "--man=no", file], { encoding: "utf8" });
    const about = `${stdout}${stderr}`.split("\n").filter((line) => line.includes(name));
    return status === 0 ? about.join("\n") : `${status}: ${stdout}${stderr}`;
  }

  test.each([
    ["plain", PLAIN],
    ["bridge", BRIDGE],
    ["tls", TLS],
  ])("has nothing to say about a member on the stage %s", (name, stage) => {
    expect(verify(`etcd-${name}.service`, unitsOf({ ...hardWay, ...here }, stage).controller!)).toBe("");
  });

  test("has something to say about a unit that is broken", () => {
    const unit = unitsOf({ ...hardWay, ...here }).controller!.replace("Restart=on-failure", "Restart=sometimes");
    expect(verify("etcd-broken.service", unit)).toMatch(/restart specifier/);
  });
});
