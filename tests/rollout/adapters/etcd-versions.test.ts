import { spawnSync } from "node:child_process";
import { minorOf, nextMinor } from "../../../config";
import { flagProblem, flagsThatCome } from "../../../config/etcd-flags";
import { DirectTransport, EtcdAdapter } from "../../../rollout/adapters";
import { decode, encode } from "../../../rollout/adapters/protobuf";
import type { MemberAddress, MemberVersions } from "../../../rollout/ports";
import { describeWithEtcd, type EtcdBinary, eventually, findEtcd, TestCluster, testMembers } from "./etcd-process";

jest.setTimeout(60_000);

const DEADLINE_MS = 2000;

describe.each<EtcdBinary>(["etcd", "etcd-3.6", "etcd-3.5"])("%s", (binary) => {
  describeWithEtcd(
    "versions of three members",
    () => {
      let cluster: TestCluster;
      let addresses: MemberAddress[];
      let etcd: EtcdAdapter;

      beforeAll(async () => {
        const members = await testMembers(3);
        cluster = new TestCluster(
          members,
          ["--auto-compaction-mode=periodic"],
          { client: "http", peer: "http" },
          binary,
        );
        cluster.start();
        const transport = new DirectTransport(({ pod }, port) => {
          const member = members.find((candidate) => candidate.pod === pod)!;
          return { host: "127.0.0.1", port: port === 2381 ? member.metricsPort : member.clientPort };
        });
        etcd = new EtcdAdapter(transport);
        addresses = members.map(({ namespace, pod, host }) => ({ namespace, pod, host, scheme: "http" }));
        await eventually(() => Promise.all(addresses.map((each) => etcd.linearizableRead(each, DEADLINE_MS))));
      });

      afterAll(() => cluster.stop());

      const all = () => Promise.all(addresses.map((address) => etcd.versions(address, DEADLINE_MS)));
      const allToBe = (wanted: Partial<MemberVersions>) =>
        eventually(async () => {
          for (const versions of await all()) expect(versions).toMatchObject(wanted);
        });

      test("each says its own, the cluster's, and from 3.6 on its data's", async () => {
        const [{ server }] = (await all()) as [MemberVersions];
        const minor = minorOf(server);
        expect((await etcd.status(addresses[0]!, DEADLINE_MS)).version).toBe(server);
        await allToBe({ cluster: minor, snapshots: 0, ...(minor !== "3.5" && { storage: `${minor}.0` }) });
        for (const versions of await all()) expect(versions.downgradeTo).toBeUndefined();
        if (minor === "3.5") expect(Object.keys((await all())[0]!).sort()).toEqual(["cluster", "server", "snapshots"]);
      });

      test("no release but the one before is gone down to", async () => {
        const [{ server }] = (await all()) as [MemberVersions];
        const two = etcd.setDowngrade(addresses[0]!, nextMinor(minorOf(server), -2), DEADLINE_MS);
        await expect(two).rejects.toThrow(/invalid downgrade target version/);
      });

      if (binary === "etcd-3.5") return;

      test("a downgrade is enabled and cancelled; stepping down writes a snapshot on every member", async () => {
        const [{ server }] = (await all()) as [MemberVersions];
        const [minor, before] = [minorOf(server), nextMinor(minorOf(server), -1)];
        await allToBe({ cluster: minor, storage: `${minor}.0` });
        await etcd.setDowngrade(addresses[1]!, before, DEADLINE_MS);
        await allToBe({ cluster: before, storage: `${before}.0`, downgradeTo: `${before}.0`, snapshots: 1 });
        await etcd.setDowngrade(addresses[2]!, undefined, DEADLINE_MS);
        await allToBe({ cluster: minor, storage: `${minor}.0` });
        for (const versions of await all()) expect(versions.downgradeTo).toBeUndefined();
      });
    },
    binary,
  );

  describeWithEtcd(
    "flags",
    () => {
      test("the table knows which of them it has", () => {
        const path = findEtcd(binary)!;
        const version = /etcd Version: (\S+)/.exec(run(path, "--version"))![1]!;
        const refused = flagsThatCome().filter((flag) => run(path, `--${flag}=`, "--version").includes("not defined"));
        expect(refused).toEqual(flagsThatCome().filter((flag) => flagProblem(flag, version) !== undefined));
      });
    },
    binary,
  );
});

function run(path: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(path, args, { encoding: "utf8" });
  return stdout + stderr;
}

test("messages are read field by field, whatever else they hold", () => {
  const message = encode({ 1: 2, 2: "3.6", 13: "x".repeat(200), 4: 300 });
  const fields = decode(Buffer.concat([message, Buffer.from([0x4d, 1, 2, 3, 4, 0x51, 1, 2, 3, 4, 5, 6, 7, 8])]));
  expect([fields.get(1), fields.get(4)]).toEqual([2n, 300n]);
  expect(String(fields.get(2))).toBe("3.6");
  expect(String(fields.get(13))).toBe("x".repeat(200));
  expect(fields.get(9)).toEqual(Buffer.from([1, 2, 3, 4]));
});

test.each([
  ["a number", [0x08, 0x80], /middle of a number/],
  ["a field", [0x12, 0x05, 0x33], /middle of a field/],
  ["a group", [0x0b], /unknown kind 3/],
])("a message that ends in %s is an error", (_, bytes, message) => {
  expect(() => decode(Buffer.from(bytes))).toThrow(message);
});
