import { evaluateGate, type Verdict } from "../../rollout/gate";
import type { MemberStatus, Ports } from "../../rollout/ports";
import { ClusterView } from "../../rollout/view";
import { plainSpec, Scenario } from "./world";
import { override } from "./world/override";

/** A healthy cluster of three, the gate asked after one thing was broken in it. */
async function gate(
  broken: (scenario: Scenario) => void = () => {},
  options: { exempt?: string; ports?: (ports: Ports) => Ports } = {},
): Promise<Verdict> {
  const spec = plainSpec(3);
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  // Long enough for a few writes.
  scenario.world.timeline.advance(5_000);
  broken(scenario);
  const { ports: changed = (ports: Ports) => ports, exempt } = options;
  return scenario.faults.run((ports) => evaluateGate(new ClusterView(changed(ports), spec, undefined), exempt));
}

/** The same, with what one member answers changed. */
function answering(name: string, change: (status: MemberStatus, call: number) => Partial<MemberStatus>) {
  let calls = 0;
  return (ports: Ports): Ports => {
    const etcd = override(ports.etcd, {
      status: async (address, deadlineMs) => {
        const status = await ports.etcd.status(address, deadlineMs);
        return address.pod === name ? { ...status, ...change(status, calls++) } : status;
      },
    });
    return { ...ports, etcd };
  };
}

const member = ({ world }: Scenario, ordinal: number) => world.raft.members[ordinal]!;
const pod = ({ world }: Scenario, ordinal: number) => world.pods[ordinal]!;

test("a healthy cluster opens it, and it says who leads", async () => {
  const verdict = await gate();
  expect(verdict).toMatchObject({ open: true, reasons: [] });
  expect(verdict.leader).toMatch(/^db-[012]$/);
  expect(verdict.members).toHaveLength(3);
});

test.each<[string, (scenario: Scenario) => void, string]>([
  ["no workload", ({ world }) => void Object.assign(world, { workload: undefined }), "StatefulSet db does not exist"],
  [
    "a controller that lags",
    ({ world }) => void Object.assign(world.workload!, { generation: 99 }),
    "StatefulSet db: its controller has not seen the newest template yet",
  ],
  ["a pod that is missing", ({ world }) => void world.pods.splice(1, 1), "db-1: has no pod"],
  ["a pod that goes", (s) => void Object.assign(pod(s, 1), { phase: "terminating" }), "db-1: is terminating"],
  [
    "a pod that is not ready",
    (s) => void Object.assign(pod(s, 1), { ready: false, readyFrom: Number.POSITIVE_INFINITY }),
    "db-1: is not ready",
  ],
  [
    "a pod that cannot start",
    (s) =>
      void Object.assign(pod(s, 1), {
        ready: false,
        readyFrom: Number.POSITIVE_INFINITY,
        trouble: "ImagePullBackOff: no such image",
      }),
    "db-1: is not ready (ImagePullBackOff: no such image)",
  ],
  [
    "a ready pod that does not serve",
    (s) => void Object.assign(member(s, 1).process!, { servingFrom: Number.POSITIVE_INFINITY }),
    "db-1: does not answer on its client port (db-1: no connection)",
  ],
  [
    "a member that sees no leader",
    (s) => {
      const { raft } = s.world;
      const cutOff = raft.members.find((candidate) => candidate !== raft.leader);
      const linked = raft.linked.bind(raft);
      raft.linked = (a, b) => a === b || (a !== cutOff && b !== cutOff && linked(a, b));
      s.world.raft.changed();
    },
    "sees no leader",
  ],
  [
    "a voter without a pod",
    ({ world }) => {
      world.raft.members.push({ ...world.raft.members[0]!, id: "ff", name: "stranger", ordinal: 9, peerUrls: [] });
      world.raft.changed();
    },
    "voter stranger: has no pod",
  ],
  [
    "a voter that was added and has never started",
    ({ world }) => {
      world.raft.members.push({ ...world.raft.members[0]!, id: "ff", name: "", ordinal: 9, peerUrls: [] });
      world.raft.changed();
    },
    "voter ff: has no pod",
  ],
])("shut by %s", async (_, broken, reason) => {
  const { open, reasons } = await gate(broken);
  expect(reasons.join("; ")).toContain(reason);
  expect(open).toBe(false);
});

test("a learner is neither asked nor counted", async () => {
  const { open } = await gate(({ world }) => {
    world.raft.members.push({ ...world.raft.members[0]!, id: "ff", name: "learner", ordinal: 9, isLearner: true });
    world.raft.changed();
  });
  expect(open).toBe(true);
});

test.each<[string, (status: MemberStatus) => Partial<MemberStatus>, string]>([
  ["another leader", () => ({ leader: "beef" }), "disagree on leader or term"],
  ["another term", ({ term }) => ({ term: term - 1n }), "disagree on leader or term"],
  ["no leader", () => ({ leader: "0000000000000000" }), "db-1: sees no leader"],
  ["an error", () => ({ errors: ["memory quota exceeded"] }), "db-1: reports memory quota exceeded"],
  ["too few applied entries", () => ({ appliedIndex: 1n }), "db-1: has applied 1 of the leader's"],
])("shut by a voter that reports %s", async (_, change, reason) => {
  const { open, reasons } = await gate(() => {}, { ports: answering("db-1", change) });
  expect(reasons.join("; ")).toContain(reason);
  expect(open).toBe(false);
});

test("a voter that has caught up when it is asked again is no reason", async () => {
  const late = answering("db-1", (_, call) => (call === 0 ? { appliedIndex: 1n } : {}));
  expect(await gate(() => {}, { ports: late })).toMatchObject({ open: true, reasons: [] });
});

test.each([
  ["NOSPACE", /^alarm NOSPACE is raised \(no write is accepted.*etcdctl alarm disarm\)$/],
  ["CORRUPT", /^alarm CORRUPT is raised \(the data of a member differs.*etcdctl alarm disarm\)$/],
  // One that a later etcd may have.
  ["3", /^alarm 3 is raised$/],
])("shut by the alarm %s", async (alarm, words) => {
  const alarmed = (ports: Ports): Ports => ({
    ...ports,
    etcd: override(ports.etcd, { alarms: async () => [alarm] }),
  });
  const verdict = await gate(() => {}, { ports: alarmed });
  expect(verdict).toMatchObject({ open: false, reasons: [expect.stringMatching(words)] });
});

test("an alarm that members report is named once, without the number of the member", async () => {
  const errors = ["memberID:5712832950451107214 alarm:NOSPACE "];
  const both = (ports: Ports) => answering("db-0", () => ({ errors }))(answering("db-1", () => ({ errors }))(ports));
  const { open, reasons } = await gate(() => {}, { ports: both });
  expect(open).toBe(false);
  expect(reasons).toEqual([expect.stringMatching(/^alarm NOSPACE is raised \(/)]);
});

test("shut by a cluster without quorum, in its own words", async () => {
  const { open, reasons } = await gate(({ world }) => {
    for (const each of world.raft.members) each.peerUrls = [];
    world.raft.changed();
  });
  expect(open).toBe(false);
  expect(reasons).toEqual(["the cluster did not answer: etcdserver: request timed out"]);
});

describe("with a member that is to be mended", () => {
  const down = (s: Scenario, ordinal: number) => {
    s.world.crashContainer(pod(s, ordinal));
    if (s.world.raft.leader === member(s, ordinal)) s.world.raft.moveLeader(member(s, (ordinal + 1) % 3));
  };

  test("it is open although that member is down", async () => {
    expect(await gate((s) => down(s, 2), { exempt: "db-2" })).toMatchObject({ open: true, reasons: [] });
  });

  test("it is shut by another member that is down", async () => {
    const { open, reasons } = await gate((s) => down(s, 1), { exempt: "db-2" });
    expect({ open, reasons }).toEqual({ open: false, reasons: ["db-1: is not ready"] });
  });
});
