import type { EtcdSpec } from "../../config";
import { carryOut, type Ports, previewRollout, widenTrust } from "../../rollout";
import type { MemberVersions } from "../../rollout/ports";
import {
  type LiveVersions,
  planVersions,
  silenceProblem,
  versionNotes,
  versionProblems,
  versionStepText,
} from "../../rollout/versions";
import { OWNER, plainSpec, Scenario, tlsSpec } from "./world";

const of = (version: string) => plainSpec(3, { version });

/** Members with what they say, each named by its place. */
function live(...members: Partial<MemberVersions>[]): LiveVersions {
  const said = members.map((each, index) => ({ name: `db-${index}`, server: "3.6.17", snapshots: 1, ...each }));
  return { members: said, silent: [] };
}

const on = (server: string, more: Partial<MemberVersions> = {}) => ({ server, cluster: server.slice(0, 3), ...more });

describe("whether the members bear the version", () => {
  test.each<[string, LiveVersions, string, RegExp]>([
    ["two minor releases", live(on("3.5.36"), on("3.5.36")), "3.7.3", /db-0 runs 3\.5\.36/],
    ["one member that lags", live(on("3.6.17"), on("3.5.36", { cluster: "3.5" })), "3.7.3", /db-1 runs 3\.5\.36/],
    ["a release that is too old to begin with", live(on("3.5.20")), "3.6.17", /3\.5\.26 or later.*db-0 runs 3\.5\.20/],
    ["two minor releases down", live(on("3.7.3")), "3.5.36", /one minor release at a time/],
  ])("%s", (_, members, version, rule) => {
    const problems = versionProblems(of(version), members);
    expect(problems).toMatchObject([{ path: "etcd:version", value: version, rule: expect.stringMatching(rule) }]);
  });

  test("what the cluster speaks counts, too", () => {
    const members = live(on("3.6.17", { cluster: "3.5", downgradeTo: "3.5.0" }));
    expect(versionProblems(of("3.5.36"), members)).toEqual([]);
    const far = live(on("3.6.17", { cluster: "3.8" }));
    expect(versionProblems(of("3.6.17"), far)).toMatchObject([{ rule: expect.stringContaining("speaks, 3.8") }]);
  });

  test("nobody answers: only to where they were asked to be last", () => {
    const nobody = { members: [], silent: ["db-0"] };
    expect(versionProblems(of("3.7.3"), nobody)).toEqual([]);
    expect(silenceProblem(of("3.7.3"), nobody, "3.7.0")).toEqual([]);
    expect(silenceProblem(of("3.7.3"), nobody, undefined)).toEqual([]);
    expect(silenceProblem(of("3.7.3"), nobody, "3.6.17")).toMatchObject([{ mend: expect.stringContaining("3.6.17") }]);
    expect(silenceProblem(of("3.7.3"), live(on("3.6.17")), "3.6.17")).toEqual([]);
  });
});

describe("what a version takes besides restarts", () => {
  const steps = (spec: EtcdSpec, members: LiveVersions, restarts = true) => {
    const { before, after } = planVersions(spec, members, restarts);
    return [...before, ...after].map(versionStepText);
  };
  const CANCEL = (to: string) => `cancel the downgrade to etcd ${to}`;
  const DOWN = (to: string) => `enable the downgrade to etcd ${to}, and wait until every member has migrated its data`;
  const SNAPSHOT = "let every member write a snapshot, so that none has entries of etcd 3.5 to read again";
  const SETTLE = (to: string) => `wait until the cluster speaks etcd ${to}`;

  test.each<[string, string, LiveVersions, string[]]>([
    ["a patch release", "3.7.3", live(on("3.7.0"), on("3.7.3")), []],
    ["an upgrade", "3.6.17", live(on("3.5.36", { snapshots: 0 })), [SETTLE("3.6")]],
    ["an upgrade to 3.7 of members that have a snapshot", "3.7.3", live(on("3.6.17")), [SETTLE("3.7")]],
    [
      "one that lacks a snapshot",
      "3.7.3",
      live(on("3.6.17"), on("3.6.17", { snapshots: 0 })),
      [SNAPSHOT, SETTLE("3.7")],
    ],
    [
      "an upgrade to 3.7 that is under way",
      "3.7.3",
      live(on("3.6.17", { snapshots: 0 }), on("3.7.3", { cluster: "3.6", snapshots: 0 })),
      [SETTLE("3.7")],
    ],
    ["a downgrade", "3.6.17", live(on("3.7.3", { storage: "3.7.0" })), [DOWN("3.6"), SETTLE("3.6")]],
    [
      "a downgrade that somebody has enabled",
      "3.6.17",
      live(on("3.7.3", { cluster: "3.6", storage: "3.6.0", downgradeTo: "3.6.0" })),
      [SETTLE("3.6")],
    ],
    [
      "one that was enabled just now",
      "3.6.17",
      live(on("3.7.3", { cluster: "3.6", storage: "3.7.0", downgradeTo: "3.6.0" })),
      [DOWN("3.6"), SETTLE("3.6")],
    ],
    [
      "back up in the middle of a downgrade",
      "3.7.3",
      live(on("3.7.3", { cluster: "3.6", downgradeTo: "3.6.0" }), on("3.6.17", { downgradeTo: "3.6.0" })),
      [CANCEL("3.6"), SETTLE("3.7")],
    ],
    [
      "back in the middle of an upgrade: the cluster has not left the release",
      "3.6.17",
      live(on("3.7.3", { cluster: "3.6", storage: "3.6.0" }), on("3.6.17", { storage: "3.6.0" })),
      [],
    ],
    [
      "back when every member is there, and the cluster about to follow",
      "3.6.17",
      live(on("3.7.3", { cluster: "3.6", storage: "3.6.0" })),
      [DOWN("3.6"), SETTLE("3.6")],
    ],
    ["nobody who answers", "3.7.3", live(), []],
  ])("%s", (_, version, members, wanted) => {
    expect(steps(of(version), members)).toEqual(wanted);
  });

  test("nothing where nothing restarts", () => {
    expect(steps(of("3.7.3"), live(on("3.6.17", { snapshots: 0 })), false)).toEqual([]);
    expect(steps(of("3.6.17"), live(on("3.6.17")), false)).toEqual([]);
  });

  test("what was begun is ended, though nothing restarts", () => {
    expect(steps(of("3.7.3"), live(on("3.7.3", { cluster: "3.6" })), false)).toEqual([SETTLE("3.7")]);
    expect(steps(of("3.7.3"), live(on("3.7.3", { downgradeTo: "3.6.0" })), false)).toEqual([
      CANCEL("3.6"),
      SETTLE("3.7"),
    ]);
    expect(steps(of("3.6.17"), live(on("3.6.17", { downgradeTo: "3.6.0" })), false)).toEqual([SETTLE("3.6")]);
  });
});

describe("notes", () => {
  test.each<[string, LiveVersions, string[]]>([
    ["3.7.3", live(on("3.7.3")), []],
    ["3.7.3", live(on("3.7.0")), ["etcd 3.7.0 -> 3.7.3"]],
    ["3.7.3", live(on("3.6.17")), ["etcd 3.6.17 -> 3.7.3; once every member runs 3.7, the way back is a downgrade"]],
    [
      "3.6.17",
      live(on("3.7.3"), on("3.7.0")),
      ["etcd 3.7.0, 3.7.3 -> 3.6.17; what 3.7 brought is not available any more once the downgrade is enabled"],
    ],
  ])("to %s", (version, members, wanted) => {
    expect(versionNotes(of(version), members, true)).toEqual(wanted);
  });

  test("hosts whose binary nobody has changed", () => {
    const hosts = { ...of("3.7.3"), hosts: { binary: "/usr/local/bin/etcd" } } as EtcdSpec;
    expect(versionNotes(hosts, live(on("3.6.17")), false)).toEqual([
      "members run etcd 3.6.17, and etcd:version is 3.7.3: /usr/local/bin/etcd is theirs to start; replace it on every host and set rollout.restart, or hand a binary in",
    ]);
    expect(versionNotes(of("3.7.3"), live(on("3.6.17")), false)).toEqual([]);
  });
});

describe("a preview without a record of what was asked for last", () => {
  const preview = async (from: string, to: EtcdSpec) => {
    const scenario = new Scenario(tlsSpec(3, { version: from }));
    await scenario.until(tlsSpec(3, { version: from }));
    const settled = scenario.state.trust!.settled;
    return scenario.faults.run((ports: Ports) => previewRollout(ports, { spec: to, owner: OWNER, settled }));
  };

  test("asks the members: two minor releases are refused", async () => {
    await expect(preview("3.5.36", tlsSpec(3, { version: "3.7.3" }))).rejects.toThrow(/db-0 runs 3\.5\.36/);
  });

  test("says where they come from", async () => {
    const { notes, plan } = await preview("3.7.3", tlsSpec(3, { version: "3.6.17" }));
    expect(notes[0]).toContain("etcd 3.7.3 -> 3.6.17");
    expect(plan[0]).toContain("enable the downgrade to etcd 3.6");
    expect(plan.at(-1)).toBe("wait until the cluster speaks etcd 3.6");
  });
});

describe("an update that changes more than the version, without a record, is refused before a member restarts", () => {
  const after = tlsSpec(3, { version: "3.6.17", tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } });
  const request = { spec: after, owner: OWNER };

  test.each<[string, (ports: Ports) => Promise<unknown>]>([
    ["in preview", (ports) => previewRollout(ports, request)],
    ["without one", (ports) => widenTrust(ports, request)],
  ])("%s", async (_, engine) => {
    const before = tlsSpec(3, { version: "3.7.3" });
    const scenario = new Scenario(before);
    await scenario.until(before);
    const message = await scenario.faults.run(engine).catch(String);
    expect(message).toContain("must be changed in an update of its own");
    expect(scenario.invariants.evictions).toEqual([]);
    scenario.verify();
  });
});

test("a single member that is away just then is waited for before it is brought to an older release", async () => {
  const [before, after] = [plainSpec(1, { version: "3.7.3" }), plainSpec(1, { version: "3.6.17" })];
  const scenario = new Scenario(before);
  await scenario.until(before);
  scenario.world.deletePod(scenario.world.pods[0]!);
  const { steps } = await scenario.faults.run((ports) => carryOut(ports, { spec: after, owner: OWNER }, before));
  expect(steps[0]).toContain("enable the downgrade to etcd 3.6");
  scenario.verify();
});

test("a version that the image does not hold is named, not waited for without a reason", async () => {
  const digest = `example.org/etcd@sha256:${"a".repeat(64)}`;
  const wrong = (version: string) => plainSpec(3, { version, image: digest, rollout: { stepTimeout: "20s" } });
  const scenario = new Scenario(wrong("3.6.17"));
  await scenario.until(wrong("3.6.17"));
  const spec = plainSpec(3, {
    version: "3.7.3",
    image: digest,
    rollout: { stepTimeout: "20s", restart: "1" },
  });
  await expect(scenario.once(spec)).rejects.toThrow(/db-0 runs 3\.6\.17: if that is what the image holds/);
});
