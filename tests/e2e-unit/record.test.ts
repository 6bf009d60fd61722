import { type Recorded, recordedBetween } from "../e2e/harness/record";

const at = (time: string, steps: string[]): Recorded => ({
  steps,
  durationMs: 1000,
  restarts: steps.map((step) => ({ member: step, pass: "pass 1/1", durationMs: 900, wasLeader: false })),
  conditions: [{ type: "Successful", lastTransitionTime: time }],
});

test("what both resources did comes in the order of an update", () => {
  const after = {
    Rollout: at("12:01", ["settle: restart etcd-0"]),
    TrustBundle: at("12:00", ["widen: restart etcd-0"]),
  };
  const { steps, durationMs, restarts } = recordedBetween({}, after);
  expect(steps).toEqual(["widen: restart etcd-0", "settle: restart etcd-0"]);
  expect(durationMs).toBe(2000);
  expect(restarts).toHaveLength(2);
});

test("a record of an older update is left out", () => {
  const trust = at("12:00", ["ask Issuer a for its CA"]);
  const before = { TrustBundle: trust, Rollout: at("12:01", []) };
  const after = { TrustBundle: trust, Rollout: at("12:30", ["re-issue Certificate etcd-server-cert"]) };
  expect(recordedBetween(before, after).steps).toEqual(["re-issue Certificate etcd-server-cert"]);
});

test("the same steps once more count, by the time of their conditions", () => {
  const before = { Rollout: at("12:00", ["pass 1/1: restart etcd-0"]) };
  const after = { Rollout: at("12:30", ["pass 1/1: restart etcd-0"]) };
  expect(recordedBetween(before, after).steps).toHaveLength(1);
});
