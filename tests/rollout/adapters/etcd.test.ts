import { createServer, type Server, type Socket } from "node:net";
import { AlarmAction, AlarmType, Etcd3 } from "etcd3";
import { DirectTransport, EtcdAdapter, EtcdError } from "../../../rollout/adapters";
import type { MemberAddress } from "../../../rollout/ports";
import { describeWithEtcd, eventually, freePort, TestCluster, type TestMember, testMembers } from "./etcd-process";
import { type Leaf, TestAuthority } from "./tls-material";

jest.setTimeout(60_000);

const second = 1_000;

/** Dials a member's processes on loopback, as the port-forward does for pods. */
function loopback(members: TestMember[]): DirectTransport {
  return new DirectTransport(({ pod }, port) => {
    const member = members.find((candidate) => candidate.pod === pod)!;
    const ports: Record<number, number> = {
      2379: member.clientPort,
      2380: member.peerPort,
      2381: member.metricsPort,
    };
    return { host: "127.0.0.1", port: ports[port]! };
  });
}

function plain({ namespace, pod, host }: TestMember): MemberAddress {
  return { namespace, pod, host, scheme: "http" };
}

describeWithEtcd("EtcdAdapter with three plaintext members", () => {
  let cluster: TestCluster;
  let members: TestMember[];
  let etcd: EtcdAdapter;

  beforeAll(async () => {
    members = await testMembers(3);
    cluster = new TestCluster(members);
    cluster.start();
    etcd = new EtcdAdapter(loopback(members));
    await eventually(() => Promise.all(members.map((member) => etcd.linearizableRead(plain(member), 2 * second))));
  });

  afterAll(() => cluster.stop());

  async function leaderAndFollowers(): Promise<[TestMember, TestMember[]]> {
    const statuses = await Promise.all(members.map((member) => etcd.status(plain(member), 2 * second)));
    const leads = (index: number) => statuses[index]!.id === statuses[index]!.leader;
    return [members.find((_, index) => leads(index))!, members.filter((_, index) => !leads(index))];
  }

  test("status has hexadecimal ids and exact indexes, and one leader", async () => {
    const statuses = await Promise.all(members.map((member) => etcd.status(plain(member), 2 * second)));
    expect(new Set(statuses.map(({ leader }) => leader)).size).toBe(1);
    expect(statuses.filter(({ id, leader }) => id === leader)).toHaveLength(1);
    for (const status of statuses) {
      expect(status.id).toMatch(/^[0-9a-f]{8,16}$/);
      expect(status.version).toMatch(/^3\./);
      expect(status).toMatchObject({ isLearner: false, errors: [] });
      expect(status.term).toBeGreaterThan(0n);
      expect(status.appliedIndex).toBeLessThanOrEqual(status.raftIndex);
    }
  });

  test("the member list names every member by the id that it answers with", async () => {
    const list = await etcd.memberList(plain(members[0]!), 2 * second);
    const { id } = await etcd.status(plain(members[1]!), 2 * second);
    expect(list).toHaveLength(3);
    expect(list.find((member) => member.id === id)).toEqual({
      id,
      name: "etcd-1",
      peerUrls: [`http://127.0.0.1:${members[1]!.peerPort}`],
      clientUrls: [`http://127.0.0.1:${members[1]!.clientPort}`],
      isLearner: false,
    });
  });

  test("the metrics name every member by the id that it answers with", async () => {
    for (const member of members) {
      const { id } = await etcd.status(plain(member), 2 * second);
      expect(await etcd.identity(member, 2 * second)).toBe(id);
    }
  });

  test("a member can be registered under both schemes and back", async () => {
    const { id } = await etcd.status(plain(members[2]!), 2 * second);
    const http = `http://127.0.0.1:${members[2]!.peerPort}`;
    const both = [http, http.replace("http", "https")];
    const urls = async () => (await etcd.memberList(plain(members[1]!), 2 * second)).find((m) => m.id === id)!.peerUrls;
    await etcd.updatePeerUrls(plain(members[0]!), id, both, 2 * second);
    expect((await urls()).sort()).toEqual(both.sort());
    await etcd.updatePeerUrls(plain(members[0]!), id, [http], 2 * second);
    expect(await urls()).toEqual([http]);
  });

  test("there are no alarms", async () => {
    expect(await etcd.alarms(plain(members[0]!), 2 * second)).toEqual([]);
  });

  test("an alarm is named as etcd names it, once however many members raise it", async () => {
    const client = new Etcd3({ hosts: `http://127.0.0.1:${members[0]!.clientPort}` });
    const alarm = async (memberID: string, action: AlarmAction) =>
      client.maintenance.alarm({ action, memberID, alarm: AlarmType.Nospace });
    try {
      const { members: all } = await client.cluster.memberList({});
      for (const { ID } of all) await alarm(ID, AlarmAction.Activate);
      expect(await etcd.alarms(plain(members[1]!), 2 * second)).toEqual(["NOSPACE"]);
      for (const { ID } of all) await alarm(ID, AlarmAction.Deactivate);
      expect(await etcd.alarms(plain(members[1]!), 2 * second)).toEqual([]);
    } finally {
      client.close();
    }
  });

  test("the leader hands its lead to the voter that is named", async () => {
    const [leader, [follower]] = await leaderAndFollowers();
    const { id } = await etcd.status(plain(follower!), 2 * second);
    await etcd.moveLeader(plain(leader), id, 5 * second);
    await eventually(async () => expect((await leaderAndFollowers())[0]).toBe(follower));
  });

  test("a follower refuses to move the lead, in etcd's words", async () => {
    const [, [one, other]] = await leaderAndFollowers();
    const { id } = await etcd.status(plain(other!), 2 * second);
    const error = await etcd.moveLeader(plain(one!), id, 2 * second).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EtcdError);
    expect(error).toMatchObject({
      member: one!.pod,
      call: "moveLeader",
      code: "FAILED_PRECONDITION",
      deadlineMs: 2000,
    });
    expect((error as Error).message).toContain("not leader");
  });

  test("plaintext is accepted; TLS is refused", async () => {
    expect(await etcd.probe(plain(members[0]!), 3 * second)).toBe("accepted");
    const https: MemberAddress = { ...plain(members[0]!), scheme: "https" };
    expect(await etcd.probe(https, 3 * second)).toBe("refused");
  });

  test("a port that speaks no TLS has no certificate", async () => {
    await expect(etcd.servedCertificate(members[0]!, 2379, undefined, 3 * second)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
    });
  });
});

describeWithEtcd("EtcdAdapter with a member that demands client certificates", () => {
  let cluster: TestCluster;
  let member: TestMember;
  let etcd: EtcdAdapter;
  let authority: TestAuthority;
  let stranger: TestAuthority;
  let server: Leaf;
  let client: Leaf;

  beforeAll(async () => {
    [member] = (await testMembers(1)) as [TestMember];
    authority = new TestAuthority("etcd-ca");
    stranger = new TestAuthority("another-ca");
    server = authority.issue("server", [`DNS:${member.host}`, "IP:127.0.0.1"]);
    client = authority.issue("root", []);
    const files = (plane: string) => [
      ...[`--${plane}cert-file`, server.certificateFile, `--${plane}key-file`, server.keyFile],
      ...[`--${plane}trusted-ca-file`, authority.caFile, `--${plane}client-cert-auth`],
    ];
    cluster = new TestCluster([member], [...files(""), ...files("peer-")], { client: "https", peer: "https" });
    cluster.start();
    etcd = new EtcdAdapter(loopback([member]));
    await eventually(() => etcd.linearizableRead(withCertificate(), 2 * second));
  });

  afterAll(async () => {
    await cluster.stop();
    authority.remove();
    stranger.remove();
  });

  function withCertificate(leaf: Leaf = client, caBundle = authority.ca): MemberAddress {
    return {
      ...plain(member),
      scheme: "https",
      credentials: { caBundle, certificate: leaf.certificate, key: leaf.key },
    };
  }

  const withoutCertificate = (): MemberAddress => ({ ...withCertificate(), credentials: { caBundle: authority.ca } });

  test("status and member list go over mutual TLS under the member's own name", async () => {
    const status = await etcd.status(withCertificate(), 2 * second);
    expect(status.leader).toBe(status.id);
    expect(await etcd.memberList(withCertificate(), 2 * second)).toHaveLength(1);
  });

  test("a certificate for another name is not accepted", async () => {
    const other = { ...withCertificate(), host: "etcd-9.etcd-pods.db.svc.cluster.local" };
    const error = await etcd.status(other, 2 * second).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "UNAVAILABLE", member: "etcd-0", call: "status" });
    expect((error as Error).message).toContain("does not match certificate's altnames");
    await expect(etcd.probe(other, 2 * second)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  test("with the certificate it is accepted", async () => {
    expect(await etcd.probe(withCertificate(), 3 * second)).toBe("accepted");
  });

  test("plaintext is refused", async () => {
    expect(await etcd.probe(plain(member), 3 * second)).toBe("refused");
  });

  test("TLS without a client certificate is refused", async () => {
    expect(await etcd.probe(withoutCertificate(), 3 * second)).toBe("refused");
  });

  test("a client certificate of another authority is refused", async () => {
    expect(await etcd.probe(withCertificate(stranger.issue("root", [])), 3 * second)).toBe("refused");
  });

  test("a member that the trust bundle does not vouch for is an error, not an answer", async () => {
    await expect(etcd.probe(withCertificate(client, stranger.ca), 3 * second)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
  });

  test.each([2379, 2380])("the leaf served on %d shows with and without a client certificate", async (port) => {
    const credentials = withCertificate().credentials;
    expect(await etcd.servedCertificate(member, port, credentials, 3 * second)).toBe(server.certificate);
    expect(await etcd.servedCertificate(member, port, undefined, 3 * second)).toBe(server.certificate);
  });

  test("credentials that are no PEM are named as the cause", async () => {
    const broken = withCertificate({ ...client, key: "no key" });
    await expect(etcd.probe(broken, 2 * second)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(etcd.status(broken, 2 * second)).rejects.toBeInstanceOf(EtcdError);
  });
});

describeWithEtcd("EtcdAdapter with a member that serves both schemes on one port", () => {
  test("plaintext and mutual TLS are accepted, TLS without a certificate is refused", async () => {
    const [member] = (await testMembers(1)) as [TestMember];
    const authority = new TestAuthority("etcd-ca");
    const leaf = authority.issue("server", [`DNS:${member.host}`, "IP:127.0.0.1"]);
    const url = `127.0.0.1:${member.clientPort}`;
    const cluster = new TestCluster(
      [member],
      [
        ...["--listen-client-urls", `https://${url},http://${url}`, "--cert-file", leaf.certificateFile],
        ...["--key-file", leaf.keyFile, "--trusted-ca-file", authority.caFile, "--client-cert-auth"],
      ],
    );
    cluster.start();
    const etcd = new EtcdAdapter(loopback([member]));
    const credentials = { caBundle: authority.ca, certificate: leaf.certificate, key: leaf.key };
    const https: MemberAddress = { ...plain(member), scheme: "https", credentials };
    await eventually(() => etcd.linearizableRead(https, 2 * second));
    await etcd.linearizableRead(plain(member), 2 * second);
    expect(await etcd.probe(plain(member), 2 * second)).toBe("accepted");
    expect(await etcd.probe(https, 2 * second)).toBe("accepted");
    expect(await etcd.probe({ ...https, credentials: { caBundle: authority.ca } }, 2 * second)).toBe("refused");
    await cluster.stop();
    authority.remove();
  });
});

describe("EtcdAdapter without an etcd", () => {
  let server: Server;
  const sockets = new Set<Socket>();
  let member: TestMember;

  /** A listener that treats every connection in the given way. */
  async function listen(
    treat: (socket: Socket) => void,
    port: "clientPort" | "metricsPort" = "clientPort",
  ): Promise<EtcdAdapter> {
    [member] = (await testMembers(1)) as [TestMember];
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      treat(socket);
    });
    await new Promise<void>((resolve) => server.listen(member[port], "127.0.0.1", resolve));
    return new EtcdAdapter(loopback([member]));
  }

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server?.close(resolve));
  });

  test.each(["http", "https"] as const)(
    "a peer that never answers costs the deadline and no more (%s)",
    async (scheme) => {
      const etcd = await listen(() => {});
      const started = Date.now();
      const error = await etcd.status({ ...plain(member), scheme }, 400).catch((caught: unknown) => caught);
      expect(Date.now() - started).toBeLessThan(1_500);
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", deadlineMs: 400 });
      expect(await etcd.probe({ ...plain(member), scheme }, 400)).toBe("unreachable");
      await expect(etcd.servedCertificate(member, 2379, undefined, 400)).rejects.toMatchObject({ code: "UNAVAILABLE" });
      expect(Date.now() - started).toBeLessThan(3_500);
    },
  );

  test.each<[string, (socket: Socket) => void]>([
    ["ends every connection", (socket) => void socket.destroy()],
    ["never answers", () => {}],
    ["answers something else", (socket) => void socket.end("HTTP/1.0 200 OK\r\n\r\nup 1\n")],
  ])("a peer that %s is none whose identity is known", async (_, answer) => {
    const etcd = await listen(answer, "metricsPort");
    await expect(etcd.identity(member, 400)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("a peer that ends every connection is unreachable: a stopping member looks like this", async () => {
    const etcd = await listen((socket) => socket.destroy());
    expect(await etcd.probe(plain(member), second)).toBe("unreachable");
    expect(await etcd.probe({ ...plain(member), scheme: "https" }, second)).toBe("unreachable");
  });

  test("a port where nothing listens is unreachable, and a call to it fails at once", async () => {
    const etcd = await listen(() => {});
    const nobody = { ...member, clientPort: await freePort() };
    const other = new EtcdAdapter(loopback([nobody]));
    const started = Date.now();
    expect(await other.probe(plain(nobody), 3 * second)).toBe("unreachable");
    await expect(other.status(plain(nobody), 3 * second)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(Date.now() - started).toBeLessThan(2_000);
    expect(etcd).toBeDefined();
  });
});
