import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { Refusal, verifyMembership } from "../../../../rollout";
import { findEtcd } from "../etcd-process";
import { type Leaf, TestAuthority } from "../tls-material";
import { HostsCluster } from "./cluster";
import { describeWithHosts } from "./test-host";
import { type ClientWay, type Tally, Writer } from "./writer";

jest.setTimeout(300_000);

const ADDRESSES = ["127.0.0.11", "127.0.0.12", "127.0.0.13"];
const PLAIN: ClientWay = { scheme: "http" };

/** Minutes each: part of `make test-full` only. */
const long: typeof test | ((...test: unknown[]) => void) = process.env.PULUMI_ETCD_E2E_FULL ? test : () => undefined;

describeWithHosts("three hosts, sshd and etcd for real, a small supervisor in systemd's place", () => {
  const cluster = new HostsCluster(ADDRESSES);
  const [old, next] = [new TestAuthority("old-ca"), new TestAuthority("new-ca")];
  let server: Leaf;

  beforeAll(() => cluster.start());
  afterEach(() => cluster.close());
  afterAll(async () => {
    await cluster.remove();
    for (const authority of [old, next]) authority.remove();
  });

  const way = (authority: TestAuthority, leaf: Leaf): ClientWay => ({
    scheme: "https",
    ca: authority.ca,
    cert: leaf.certificate,
    key: leaf.key,
  });

  function etcdctl(...args: string[]) {
    return spawnSync(join(dirname(findEtcd()!), "etcdctl"), args, { encoding: "utf8", timeout: 20_000 });
  }

  /** Members by name, with how often each was restarted. */
  function restartsOf(outcome: { restarts: { member: string }[] }): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { member } of outcome.restarts) counts[member] = (counts[member] ?? 0) + 1;
    return counts;
  }

  function expectUndisturbed({ acknowledged, failed, lost }: Tally): void {
    expect(failed).toEqual([]);
    expect(lost).toEqual([]);
    expect(acknowledged).toBeGreaterThan(20);
  }

  const each = (times: number) => ({ "etcd-0": times, "etcd-1": times, "etcd-2": times });

  test("are installed in plaintext, and then nothing is left to do", async () => {
    const request = cluster.request({});
    const { preview, outcome } = await cluster.up(request);
    const installed = ["install the member etcd-0", "install the member etcd-1", "install the member etcd-2"];
    expect(preview).toMatchObject({ operation: "create", plan: installed });
    expect(outcome.steps).toEqual(installed);
    expect(await cluster.plan(request)).toEqual([]);
    const facts = await verifyMembership(cluster.ports(request.spec), request.spec);
    expect(facts.endpoints).toEqual(ADDRESSES.map((address) => `http://${address}:2379`));
    expect(cluster.hosts[0]!.inside("stat -c '%a %U' /var/lib/etcd /etc/etcd/pulumi-etcd")).toBe(
      "700 etcd\n755 root\n",
    );
    expect(cluster.hosts[0]!.inside("ps -o user= -C etcd").trim()).toBe("etcd");
  });

  test("a member that is killed comes back as its unit says: after five seconds, and without the engine", async () => {
    const [host] = cluster.hosts;
    const pid = () => host!.inside("pgrep -x etcd || true").trim();
    const before = pid();
    host!.inside("pkill -9 -x etcd");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(pid()).toBe("");
    await verifyMembership(cluster.ports(cluster.earlier!.spec), cluster.earlier!.spec);
    expect(pid()).not.toBe(before);
  });

  test("TLS is added while clients write: two passes, nobody sees it", async () => {
    server = cluster.leaf(old, "server");
    const writer = new Writer(ADDRESSES, [PLAIN, way(old, server)], "add/").start();
    const request = cluster.request({ tls: {} }, [old], { server });
    const { preview, outcome } = await cluster.up(request);
    const tally = await writer.stop();
    expect(outcome.steps).toEqual(preview.plan);
    expect(preview.operation).toBe("add");
    expect(restartsOf(outcome)).toEqual(each(2));
    expectUndisturbed(tally);
    console.info(`add: ${outcome.durationMs} ms, ${tally.acknowledged} writes, longest ${tally.longestMs} ms`);
    await verifyMembership(cluster.ports(request.spec), request.spec);
    expect(await cluster.plan(request)).toEqual([]);
  });

  test("the chapter's check: etcdctl lists the members over TLS with three files, and is refused without", () => {
    const endpoints = `--endpoints=${ADDRESSES.map((address) => `https://${address}:2379`).join(",")}`;
    const files = [`--cacert=${old.caFile}`, `--cert=${server.certificateFile}`, `--key=${server.keyFile}`];
    const listed = etcdctl("member", "list", endpoints, ...files);
    expect(
      listed.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(", ").slice(1, 5))
        .sort(),
    ).toEqual(
      ADDRESSES.map((address, i) => ["started", `etcd-${i}`, `https://${address}:2380`, `https://${address}:2379`]),
    );
    const refused = etcdctl("member", "list", endpoints, `--cacert=${old.caFile}`, "--command-timeout=3s");
    expect(refused.status).not.toBe(0);
    expect(refused.stdout).toBe("");
  });

  test("keys on the hosts are etcd's group's alone", () => {
    for (const host of cluster.hosts) {
      const modes = host.inside("cd /etc/etcd/tls && stat -c '%a %U:%G %n' server server/tls.key");
      expect(modes).toBe("750 root:etcd server\n640 root:etcd server/tls.key\n");
    }
  });

  long("a new leaf of the same CA is served without a restart", async () => {
    server = cluster.leaf(old, "server-2");
    const { preview, outcome } = await cluster.up(cluster.request({ tls: {} }, [old], { server }));
    expect(preview.plan).toEqual(["install the certificate server on every host"]);
    expect([preview.operation, outcome.operation]).toEqual(["reissue", "reissue"]);
    expect(outcome.steps).toEqual(preview.plan);
    expect(outcome.restarts).toEqual([]);
  });

  long(
    "a new CA and a client's own certificate, while clients write: trusted first, the old one dropped at last",
    async () => {
      const before = server;
      server = cluster.leaf(next, "server");
      const client = next.issue("root", []);
      const writer = new Writer(ADDRESSES, [way(old, before), way(next, client)], "ca/");
      writer.ways = writer.ways.map((each) => ({ ...each, ca: old.ca + next.ca }));
      writer.start();
      const request = cluster.request({ tls: {} }, [next], { server, client });
      const { preview, outcome } = await cluster.up(request);
      const tally = await writer.stop();
      expect(outcome.steps).toEqual(preview.plan);
      expect(preview.plan).toContain("trust bundle: add CN=new-ca");
      expect(preview.plan).toContain("trust bundle: drop CN=old-ca");
      expect(restartsOf(outcome)).toEqual(each(2));
      expectUndisturbed(tally);
      console.info(`new CA: ${outcome.durationMs} ms, ${tally.acknowledged} writes, longest ${tally.longestMs} ms`);
      expect(await cluster.plan(request)).toEqual([]);
      expect(cluster.hosts[1]!.inside("stat -c '%a %U' /etc/etcd/tls/client/tls.key")).toBe("600 root\n");
    },
  );

  test("certificates that do not fit are refused before anything is touched", async () => {
    const foreign = cluster.request({ tls: {} }, [next], { server: cluster.leaf(old, "foreign") });
    await expect(cluster.plan(foreign)).rejects.toThrow(/certificates.server: the certificate does not chain/);
    const nameless = cluster.request({ tls: {} }, [next], { server: next.issue("nameless", ["DNS:etcd-0"]) });
    await expect(cluster.plan(nameless)).rejects.toThrow(/certificates.server: the certificate lacks etcd-1/);
    const garbled = { ...server, key: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n" };
    const broken = cluster.plan(cluster.request({ tls: {} }, [next], { server: garbled }));
    await expect(broken).rejects.toThrow(Refusal);
    await expect(broken).rejects.not.toThrow(/c2VjcmV0/);
  });

  test("somebody else's program does not walk them", async () => {
    const request = { ...cluster.request({}), owner: "org/other/stack" };
    await expect(cluster.plan(request)).rejects.toThrow(/belongs to org\/project\/stack/);
  });

  long("TLS is removed while clients write; an update that dies in the middle is taken up by the next", async () => {
    const client = next.issue("writer", []);
    const writer = new Writer(ADDRESSES, [way(next, client), PLAIN], "remove/").start();
    const request = cluster.request({});
    let evictions = 0;
    const dies = cluster.up(request, (ports) => ({
      ...ports,
      kube: new Proxy(ports.kube, {
        get(target, name) {
          const own = Reflect.get(target, name);
          if (name !== "evict") return typeof own === "function" ? own.bind(target) : own;
          return async (...args: Parameters<typeof target.evict>) => {
            const answer = await target.evict(...args);
            evictions += 1;
            // The member restarts all the same: systemd was told.
            if (evictions === 2) throw Object.assign(new Error("killed"), { name: "FatalError" });
            return answer;
          };
        },
      }),
      clock: {
        now: () => Date.now(),
        monotonic: () => performance.now(),
        sleep: (ms: number) =>
          evictions >= 2 ? Promise.reject(new Error("killed")) : new Promise((resolve) => setTimeout(resolve, ms)),
      },
    }));
    await expect(dies).rejects.toThrow("killed");
    const { preview, outcome } = await cluster.up({ ...request, holder: "test/second" });
    const tally = await writer.stop();
    expect(preview.operation).toBe("remove");
    expect(preview.plan.length).toBeGreaterThan(0);
    expect(Object.values(restartsOf(outcome)).reduce((sum, count) => sum + count, 0)).toBe(4);
    expectUndisturbed(tally);
    console.info(`remove: ${outcome.durationMs} ms, ${tally.acknowledged} writes, longest ${tally.longestMs} ms`);
    await verifyMembership(cluster.ports(request.spec), request.spec);
    expect(await cluster.plan(request)).toEqual([]);
    expect(cluster.hosts[0]!.inside("ls /etc/etcd/tls")).toBe("");
  });

  test("a host that is not reached is named, and nothing is planned around it", async () => {
    const [, second] = cluster.hosts;
    await second!.stop();
    await expect(cluster.plan(cluster.request({}))).rejects.toThrow(/^etcd-1: 127.0.0.12:\d+: SSH: /m);
  });
});
