import { planDifference, planLines, predictedLeader } from "../e2e/harness/plan-lines";

const PRINTED = `
Diagnostics:
  pulumi-nodejs:dynamic/etcd:Rollout (etcd):
    pass 1/2: set the member template to bridge
    pass 1/2: restart etcd-2
    pass 1/2: move leadership from etcd-1 to etcd-0
    pass 1/2: restart etcd-1
    etcd-1 leads now and goes last; the leader is read again before every member, so the order may change
    pass 2/2: restart etcd-2
    pass 1/2: restart etcd-2
`;

const STEPS = [
  "pass 1/2: set the member template to bridge",
  "pass 1/2: restart etcd-2",
  "pass 1/2: move leadership from etcd-1 to etcd-0",
  "pass 1/2: restart etcd-1",
  "pass 2/2: restart etcd-2",
];

test("reads the steps, each once, and the leader that a preview names", () => {
  expect(planLines(PRINTED)).toEqual(STEPS);
  expect(predictedLeader(PRINTED)).toBe("etcd-1");
  expect(predictedLeader("which member leads is not known now")).toBeUndefined();
});

test("the same steps in the same order make no difference", () => {
  expect(planDifference(STEPS, [...STEPS], false)).toBeUndefined();
});

test.each([
  ["another order", [STEPS[1]!, STEPS[0]!, ...STEPS.slice(2)]],
  ["a step too few", STEPS.slice(0, -1)],
  ["a step too many", [...STEPS, "pass 2/2: restart etcd-0"]],
])("%s is a difference", (_, recorded) => {
  expect(planDifference(STEPS, recorded, false)).toMatch(/^step \d: preview printed .*, the run recorded /);
});

test("with another leader, order and moves may differ, but not what is done", () => {
  const reordered = [STEPS[0]!, STEPS[3]!, "pass 1/2: move leadership from etcd-2 to etcd-0", STEPS[1]!, STEPS[4]!];
  expect(planDifference(STEPS, reordered, true)).toBeUndefined();
  expect(planDifference(STEPS, reordered, false)).toBeDefined();
  expect(planDifference(STEPS, reordered.slice(0, -1), true)).toBeDefined();
});

test("reads the steps of a change of issuer", () => {
  const steps = [
    "ask ClusterIssuer internal-ca for its CA",
    "trust bundle: add CN=db internal-ca",
    "widen: set the member template to tls",
    "widen: restart etcd-0",
    "restore Certificate etcd-peer-cert",
    "re-issue Certificate etcd-server-cert",
    "wait until every member serves its new certificates",
    "trust bundle: drop CN=db etcd-ca",
    "settle: restart etcd-0",
  ];
  const row = " ~  pulumi-nodejs:dynamic/etcd:Rollout etcd update; wait until every member serves its new certificates";
  const prose = "    if it is, the members restart once to trust it";
  expect(planLines([row, prose, ...steps.map((step) => `    ${step}`)].join("\n"))).toEqual(steps);
});

test("the trust bundle's steps come first, wherever its group is printed", () => {
  const printed = ["pass 1/2: restart etcd-0", "ask Issuer etcd-ca for its CA", "trust bundle: add CN=ca"].join("\n");
  expect(planLines(printed)).toEqual([
    "ask Issuer etcd-ca for its CA",
    "trust bundle: add CN=ca",
    "pass 1/2: restart etcd-0",
  ]);
});
