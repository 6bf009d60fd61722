import "./world/quick";
import { type Change, type Fault, liveThrough, type Schedule, Tally } from "./world";

const tally = new Tally("walk-killed");

afterAll(() => tally.write());

/** Kills the engine around its first change, its second, and so on until it ends before the kill comes. */
async function killEverywhere(schedule: Omit<Schedule, "faults">, after: Fault[]): Promise<number> {
  for (let change = 0; ; change++) {
    let killed = false;
    for (const kind of ["kill-before", "kill-after"] as const) {
      const faults = [{ kind, change, call: 0, choice: 0 }, ...after.map((fault) => ({ ...fault, change }))];
      const scenario = await liveThrough({ ...schedule, faults }, tally);
      killed ||= scenario.failures.includes("killed");
    }
    if (!killed) return change;
  }
}

const AT_ONCE: Fault = { kind: "pods-replaced", change: 0, call: 0, choice: 0 };
const IN_TURN: Fault = { kind: "pods-replaced", change: 0, call: 0, choice: 41 };

describe.each<[string, Fault[]]>([
  ["nothing else", []],
  ["every pod replaced at once", [AT_ONCE]],
  ["every node drained in turn", [IN_TURN]],
])("killed at every step, then %s", (_, after) => {
  describe.each<[Change, number]>([
    ["add", 1],
    ["add", 2],
    ["add", 3],
    ["add", 5],
    ["remove", 1],
    ["remove", 2],
    ["remove", 3],
    ["remove", 5],
    ["reissue", 3],
    ["rotate", 3],
    ["template", 3],
    ["own-ca: next generation", 3],
    ["issuer to own-ca", 3],
    ["etcd 3.5 to 3.6", 3],
    ["etcd 3.6 to 3.7", 3],
    ["etcd 3.7 to 3.6", 1],
    ["etcd 3.7 to 3.6", 3],
  ])("%s, %i members", (change, replicas) => {
    test.each([false, true])(
      "asked to go back: %s",
      async (revert) => {
        const steps = await killEverywhere({ replicas, change, revert, budget: true, durations: [20] }, after);
        expect(steps).toBeGreaterThan(1);
      },
      600_000,
    );
  });
});
