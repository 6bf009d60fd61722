import { BRIDGE, PLAIN, type Stage, TLS } from "../../manifests";
import { nextToRestart, type PlanInput, type PlannedPod, planRollout, transferee } from "../../rollout/plan";

const url = (ordinal: number, scheme: string) => `${scheme}://db-${ordinal}:2380`;
const hash = (stage: Stage) => `${stage.peer}/${stage.client}`;

function pod(ordinal: number, stage: Stage, more: Partial<PlannedPod> = {}): PlannedPod {
  const peerUrls = [url(ordinal, stage.peer === "tls" ? "https" : "http")];
  return {
    name: `db-${ordinal}`,
    ordinal,
    stage,
    templateHash: hash(stage),
    ready: true,
    voter: true,
    peerUrls,
    ...more,
  };
}

function plan(pods: PlannedPod[], target: Stage, more: Partial<PlanInput> = {}) {
  const templateStage = more.templateStage ?? pods[0]!.stage;
  const input = { replicas: pods.length, target, pods, templateStage, templateHash: hash(templateStage) };
  return planRollout({ ...input, hashOf: hash, peerUrl: url, leader: "db-0", ...more });
}

/** Steps in short: `1 restart db-2`. */
const short = (pods: PlannedPod[], target: Stage, more: Partial<PlanInput> = {}) =>
  plan(pods, target, more).steps.map(({ kind, pass, member }) => [pass, kind, member].filter(Boolean).join(" "));

const three = (...stages: Stage[]) => [0, 1, 2].map((ordinal) => pod(ordinal, stages[ordinal] ?? stages[0]!));

const PASS_TO_TLS = (pass: number, ordinal: number) => [
  `${pass} register-both db-${ordinal}`,
  `${pass} restart db-${ordinal}`,
  `${pass} register-final db-${ordinal}`,
];

/** The template is set once the first member is registered for it. */
const FIRST_TO_TLS = (pass: number, ordinal: number) => [
  `${pass} register-both db-${ordinal}`,
  `${pass} template`,
  ...PASS_TO_TLS(pass, ordinal).slice(1),
];

test.each<[string, string[], string[]]>([
  [
    "add: the bridge first, then TLS; the leader last, each time",
    short(three(PLAIN), TLS),
    [
      "1 template",
      "1 restart db-2",
      "1 restart db-1",
      "1 move-leader db-0",
      "1 restart db-0",
      ...FIRST_TO_TLS(2, 2),
      ...PASS_TO_TLS(2, 0),
      "2 move-leader db-1",
      ...PASS_TO_TLS(2, 1),
    ],
  ],
  [
    "remove: registered for http in the first pass",
    short(three(TLS), PLAIN),
    [
      ...FIRST_TO_TLS(1, 2),
      ...PASS_TO_TLS(1, 1),
      "1 move-leader db-0",
      ...PASS_TO_TLS(1, 0),
      "2 template",
      "2 restart db-2",
      "2 restart db-0",
      "2 move-leader db-1",
      "2 restart db-1",
    ],
  ],
  [
    "add, resumed in the first pass",
    short(three(PLAIN, PLAIN, BRIDGE), TLS, { templateStage: BRIDGE }).slice(0, 4),
    ["1 restart db-1", "1 move-leader db-0", "1 restart db-0", "2 register-both db-2"],
  ],
  [
    "add, resumed in the second pass",
    short(three(BRIDGE, BRIDGE, TLS), TLS, { templateStage: TLS }),
    [...PASS_TO_TLS(1, 1), "1 move-leader db-0", ...PASS_TO_TLS(1, 0)],
  ],
  [
    "add, resumed before a member was registered for good",
    short(
      three(BRIDGE, BRIDGE, TLS).map((each) =>
        each.ordinal === 2 ? { ...each, peerUrls: [url(2, "http"), url(2, "https")] } : each,
      ),
      TLS,
      { templateStage: TLS },
    ),
    ["1 register-final db-2", ...PASS_TO_TLS(1, 1), "1 move-leader db-0", ...PASS_TO_TLS(1, 0)],
  ],
  [
    "add, reverted in the first pass: back over nothing but the members that left",
    short(three(PLAIN, BRIDGE, BRIDGE), PLAIN, { templateStage: BRIDGE }),
    ["1 template", "1 restart db-2", "1 restart db-1"],
  ],
  [
    "add, reverted in the second pass: over the bridge",
    short(three(BRIDGE, BRIDGE, TLS), PLAIN, { templateStage: TLS }),
    [
      "1 template",
      ...PASS_TO_TLS(1, 2),
      "2 template",
      "2 restart db-2",
      "2 restart db-1",
      "2 move-leader db-0",
      "2 restart db-0",
    ],
  ],
  [
    "add, resumed when only the template was set",
    short(three(PLAIN), TLS, { templateStage: BRIDGE }).slice(0, 1),
    ["1 restart db-2"],
  ],
  [
    "another template on the same stage",
    short(
      three(TLS).map((each) => ({ ...each, templateHash: "old" })),
      TLS,
      { templateHash: "old" },
    ),
    ["1 template", "1 restart db-2", "1 restart db-1", "1 move-leader db-0", "1 restart db-0"],
  ],
  [
    "the template is set, and one pod is left",
    short(
      three(TLS).map((each) => (each.ordinal === 1 ? { ...each, templateHash: "old" } : each)),
      TLS,
    ),
    ["1 restart db-1"],
  ],
  ["nothing to do", short(three(TLS), TLS), []],
  ["only a template that is not ours", short(three(TLS), TLS, { templateHash: "edited" }), ["1 template"]],
  [
    "one member goes straight",
    short([pod(0, PLAIN)], TLS),
    ["1 template", "1 register-both db-0", "1 restart db-0", "1 register-final db-0"],
  ],
  [
    "nobody knows the leader: highest ordinal first, no move",
    short(three(TLS), BRIDGE, { leader: undefined as never }).filter((step) => !step.includes("register")),
    ["1 template", "1 restart db-2", "1 restart db-1", "1 restart db-0"],
  ],
  [
    "a member that is down goes first",
    short(
      three(BRIDGE).map((each) => (each.ordinal === 1 ? { ...each, ready: false } : each)),
      PLAIN,
    ).filter((step) => step.includes("restart")),
    ["1 restart db-1", "1 restart db-2", "1 restart db-0"],
  ],
  [
    "both URLs registered, and bound for http: one registration after the restart",
    short(
      three(TLS).map((each) => ({ ...each, peerUrls: [url(each.ordinal, "http"), url(each.ordinal, "https")] })),
      BRIDGE,
    ).slice(0, 4),
    ["1 template", "1 restart db-2", "1 register-final db-2", "1 restart db-1"],
  ],
])("%s", (_, steps, expected) => {
  expect(steps).toEqual(expected);
});

test("a learner never takes over, and is restarted like a follower", () => {
  const pods = three(PLAIN).map((each) => ({ ...each, voter: each.ordinal !== 1 }));
  const steps = plan(pods, BRIDGE).steps.map(({ text }) => text);
  expect(steps).toContain("pass 1/1: move leadership from db-0 to db-2");
  expect(steps).toContain("pass 1/1: restart db-1");
});

test("while a hash is not known, every member is planned for", () => {
  const steps = short(three(TLS), TLS, { hashOf: () => undefined });
  expect(steps.filter((step) => step.includes("restart"))).toHaveLength(3);
});

test("where the cluster did not answer, the stages say which URLs are registered", () => {
  const silent = three(BRIDGE).map(({ peerUrls: _, ...rest }) => rest);
  expect(short(silent, TLS).slice(1, 4)).toEqual(FIRST_TO_TLS(1, 2).slice(1));
  expect(short(silent, PLAIN).filter((step) => step.includes("register"))).toEqual([]);
});

test("all but the last template are marked as passed through", () => {
  expect(plan(three(PLAIN), TLS).passes.map(({ to, intermediate }) => [to.peer, intermediate])).toEqual([
    ["bridge", true],
    ["tls", false],
  ]);
});

test.each<[string, string[], string[]]>([
  ["one member", plan([pod(0, PLAIN)], TLS).notes, ["one member: reads and writes pause briefly while it restarts"]],
  [
    "two members",
    plan([pod(0, PLAIN), pod(1, PLAIN)], BRIDGE).notes.slice(1),
    ["two members: reads and writes pause briefly at each restart"],
  ],
  [
    "an unknown leader",
    plan(three(PLAIN), BRIDGE, { leader: undefined as never }).notes,
    ["which member leads is not known now: whichever does goes last"],
  ],
  ["nothing restarts", plan(three(TLS), TLS).notes, []],
])("notes: %s", (_, notes, expected) => {
  expect(notes).toEqual(expected);
});

test("the order: down first, then followers from the highest ordinal, the leader last", () => {
  const pending = [0, 1, 2, 3].map((ordinal) => pod(ordinal, PLAIN, { ready: ordinal !== 1 }));
  const order: string[] = [];
  while (pending.length > 0) {
    const next = nextToRestart(pending, "db-3")!;
    order.push(next.name);
    pending.splice(pending.indexOf(next), 1);
  }
  expect(order).toEqual(["db-1", "db-2", "db-0", "db-3"]);
});

test("who takes over: the ready voter with the lowest ordinal that is not the leader", () => {
  const pods = [pod(0, PLAIN, { ready: false }), pod(1, PLAIN, { voter: false }), pod(2, PLAIN), pod(3, PLAIN)];
  expect(transferee(pods, "db-3")?.name).toBe("db-2");
  expect(transferee(pods, "db-2")?.name).toBe("db-3");
  expect(transferee(pods.slice(0, 3), "db-2")).toBeUndefined();
});

describe("who is registered before the template changes the peers' scheme", () => {
  const five = (stage: Stage) => [0, 1, 2, 3, 4].map((ordinal) => pod(ordinal, stage));
  const first = (pods: PlannedPod[], target: Stage) => {
    const steps = short(pods, target);
    return steps.slice(0, steps.indexOf("1 template"));
  };

  test.each<[string, PlannedPod[], string[]]>([
    ["nobody where there is one member", [pod(0, BRIDGE)], []],
    ["one of two", [0, 1].map((ordinal) => pod(ordinal, BRIDGE)), ["1 register-both db-1"]],
    ["two of five", five(BRIDGE), ["1 register-both db-4", "1 register-both db-3"]],
    [
      "no member that is down, nor a learner: nobody can count on them",
      five(BRIDGE).map((each) => ({ ...each, ready: each.ordinal !== 4, voter: each.ordinal !== 3 })),
      ["1 register-both db-2", "1 register-both db-1"],
    ],
    [
      "only as many as are lacking",
      five(BRIDGE).map((each) =>
        each.ordinal === 0 ? { ...each, peerUrls: [url(0, "http"), url(0, "https")] } : each,
      ),
      ["1 register-both db-4"],
    ],
  ])("%s", (_, pods, expected) => {
    expect(first(pods, TLS)).toEqual(expected);
  });

  test("a template of the same scheme needs nobody", () => {
    expect(first(five(PLAIN), BRIDGE)).toEqual([]);
  });
});

describe("members whose pods were made again before their turn", () => {
  const cutOff = three(TLS).map((each) =>
    each.ordinal === 2 ? each : { ...each, peerUrls: [url(each.ordinal, "http")], ready: false },
  );

  test("are registered where they listen, before anything else", () => {
    expect(short(cutOff, TLS)).toEqual(["1 register-final db-0", "1 register-final db-1"]);
  });

  test("and under both URLs where they are to go on", () => {
    expect(short(cutOff, BRIDGE).slice(0, 3)).toEqual([
      "1 register-both db-0",
      "1 register-both db-1",
      "1 register-both db-2",
    ]);
  });
});
