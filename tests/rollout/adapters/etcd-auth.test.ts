import { Etcd3 } from "etcd3";
import { DirectTransport, EtcdAdapter } from "../../../rollout/adapters";
import type { EtcdUser, MemberAddress } from "../../../rollout/ports";
import { describeWithEtcd, eventually, TestCluster, type TestMember, testMembers } from "./etcd-process";
import { type Leaf, TestAuthority } from "./tls-material";

jest.setTimeout(60_000);

const DEADLINE_MS = 5_000;
const root: EtcdUser = { name: "root", password: "correct-horse-battery" };
const reader: EtcdUser = { name: "reader", password: "reads-one-key-only" };

function transport(members: TestMember[]): DirectTransport {
  return new DirectTransport(({ pod }) => {
    return { host: "127.0.0.1", port: members.find((member) => member.pod === pod)!.clientPort };
  });
}

function address({ namespace, pod, host }: TestMember, user?: EtcdUser): MemberAddress {
  return { namespace, pod, host, scheme: "http", ...(user && { user }) };
}

/** Users, roles, and then the switch, as `etcdctl` does it. */
async function enable(client: Etcd3): Promise<void> {
  await client.auth.roleAdd({ name: "root" });
  await client.auth.userAdd({ name: root.name, password: root.password });
  await client.auth.userGrantRole({ user: root.name, role: "root" });
  await client.auth.roleAdd({ name: "readers" });
  await client.auth.userAdd({ name: reader.name, password: reader.password });
  await client.auth.userGrantRole({ user: reader.name, role: "readers" });
  await client.auth.authEnable();
}

describeWithEtcd("EtcdAdapter with three members whose authentication is switched on", () => {
  let members: TestMember[];
  let cluster: TestCluster;
  let etcd: EtcdAdapter;
  let first: TestMember;
  const asked: string[] = [];

  beforeAll(async () => {
    members = await testMembers(3);
    first = members[0]!;
    cluster = new TestCluster(members, ["--bcrypt-cost", "4"]);
    cluster.start();
    const direct = transport(members);
    etcd = new EtcdAdapter({
      connect: async (pod, port, timeoutMs) => {
        const stream = await direct.connect(pod, port, timeoutMs);
        const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
        // The password goes over the wire as it is where there is no TLS: that is how its use is counted.
        stream.write = ((chunk: Buffer, ...rest: unknown[]) => {
          if (chunk.includes(root.password)) asked.push(pod.pod);
          return write(chunk, ...rest);
        }) as typeof stream.write;
        return stream;
      },
      close: () => direct.close(),
    });
    await eventually(() => etcd.linearizableRead(address(first), DEADLINE_MS));
    // Asked while it is off: what was learnt then must not outlast the switch.
    expect(await etcd.authentication(address(first, root), DEADLINE_MS)).toEqual({ on: false });
    expect(await etcd.authentication(address(first), DEADLINE_MS)).toEqual({ on: false });
    const client = new Etcd3({ hosts: `http://127.0.0.1:${first.clientPort}` });
    await enable(client);
    client.close();
  });

  afterAll(() => cluster.stop());

  test.each<[string, EtcdUser | undefined, string]>([
    ["nobody", undefined, "etcdserver: user name is empty"],
    [
      "a wrong password",
      { ...root, password: "wrong-horse-battery" },
      "etcdserver: authentication failed, invalid user ID or password",
    ],
    ["a user that is not there", { ...root, name: "nobody" }, "etcdserver: authentication failed"],
    ["a user without the role root", reader, "etcdserver: permission denied"],
  ])("%s is denied in etcd's own words", async (_, user, denied) => {
    const found = await etcd.authentication(address(first, user), DEADLINE_MS);
    expect(found).toEqual({ on: true, denied: expect.stringContaining(denied) });
  });

  test("without a user nothing is told, and the error does not wait for the deadline", async () => {
    const started = Date.now();
    await expect(etcd.memberList(address(first), DEADLINE_MS)).rejects.toThrow("user name is empty");
    await expect(etcd.status(address(first), DEADLINE_MS)).rejects.toThrow("user name is empty");
    expect(Date.now() - started).toBeLessThan(DEADLINE_MS);
  });

  test("with the user root everything that a walk asks for is done", async () => {
    expect(await etcd.authentication(address(first, root), DEADLINE_MS)).toEqual({ on: true });
    // On a busy machine leadership may go to another member in between.
    await eventually(async () => {
      const list = await etcd.memberList(address(first, root), DEADLINE_MS);
      const { leader } = await etcd.status(address(first, root), DEADLINE_MS);
      const leading = list.find(({ id }) => id === leader)!;
      const other = list.find(({ id }) => id !== leader)!;
      await etcd.updatePeerUrls(address(first, root), other.id, other.peerUrls, DEADLINE_MS);
      const leaderAddress = address(members.find(({ pod }) => pod === leading.name)!, root);
      await etcd.moveLeader(leaderAddress, other.id, DEADLINE_MS);
    });
    await etcd.linearizableRead(address(first, root), DEADLINE_MS);
    expect(await etcd.alarms(address(first, root), DEADLINE_MS)).toEqual([]);
  });

  test("a token is used again, and another is asked for once it does not hold any more", async () => {
    await etcd.status(address(first, root), DEADLINE_MS);
    asked.length = 0;
    for (let i = 0; i < 5; i++) await etcd.status(address(first, root), DEADLINE_MS);
    expect(asked).toEqual([]);
    const client = new Etcd3({
      hosts: `http://127.0.0.1:${members[1]!.clientPort}`,
      auth: { username: root.name, password: root.password },
    });
    // What etcd does with a changed password is to forget the user's tokens.
    await client.auth.userChangePassword({ name: root.name, password: root.password });
    client.close();
    const started = Date.now();
    await etcd.memberList(address(first, root), DEADLINE_MS);
    expect(Date.now() - started).toBeLessThan(DEADLINE_MS / 2);
    expect(asked).toEqual([first.pod]);
  });

  test("errors do not quote the password", async () => {
    const wrong = { ...root, password: "wrong-horse-battery" };
    const error = await etcd.status(address(first, wrong), DEADLINE_MS).catch((caught: Error) => caught);
    expect(`${(error as Error).stack}`).toContain("authentication failed");
    expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain("horse");
  });
});

describeWithEtcd("EtcdAdapter with TLS and authentication", () => {
  let member: TestMember;
  let cluster: TestCluster;
  let etcd: EtcdAdapter;
  let authority: TestAuthority;
  let leafOfRoot: Leaf;
  let leafOfNobody: Leaf;

  beforeAll(async () => {
    [member] = (await testMembers(1)) as [TestMember];
    authority = new TestAuthority("etcd-ca");
    const server = authority.issue("server", [`DNS:${member.host}`, "IP:127.0.0.1"]);
    leafOfRoot = authority.issue("root", []);
    leafOfNobody = authority.issue("nobody", []);
    const flags = ["--cert-file", server.certificateFile, "--key-file", server.keyFile, "--bcrypt-cost", "4"];
    cluster = new TestCluster([member], [...flags, "--trusted-ca-file", authority.caFile, "--client-cert-auth"], {
      client: "https",
      peer: "http",
    });
    cluster.start();
    etcd = new EtcdAdapter(transport([member]));
    await eventually(() => etcd.linearizableRead(withLeaf(leafOfRoot), DEADLINE_MS));
    const client = new Etcd3({
      hosts: `https://127.0.0.1:${member.clientPort}`,
      credentials: {
        rootCertificate: Buffer.from(authority.ca),
        certChain: Buffer.from(leafOfRoot.certificate),
        privateKey: Buffer.from(leafOfRoot.key),
      },
    });
    await enable(client);
    client.close();
  });

  afterAll(async () => {
    await cluster.stop();
    authority.remove();
  });

  function withLeaf({ certificate, key }: Leaf, user?: EtcdUser): MemberAddress {
    return { ...address(member, user), scheme: "https", credentials: { caBundle: authority.ca, certificate, key } };
  }

  test("the user that the certificate names is let in without a password", async () => {
    expect(await etcd.authentication(withLeaf(leafOfRoot), DEADLINE_MS)).toEqual({ on: true });
  });

  test("a certificate that names no user is not", async () => {
    const found = await etcd.authentication(withLeaf(leafOfNobody), DEADLINE_MS);
    expect(found).toEqual({ on: true, denied: expect.stringContaining("etcdserver:") });
  });

  test("the password comes before the certificate, for better and for worse", async () => {
    expect(await etcd.authentication(withLeaf(leafOfNobody, root), DEADLINE_MS)).toEqual({ on: true });
    const worse = await etcd.authentication(withLeaf(leafOfRoot, reader), DEADLINE_MS);
    expect(worse).toEqual({ on: true, denied: expect.stringContaining("permission denied") });
  });
});
