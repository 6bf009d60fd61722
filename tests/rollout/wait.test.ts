import type { Clock } from "../../rollout/ports";
import { DeadlineError, FatalError, waitFor } from "../../rollout/wait";

function clock(): Clock & { slept: number[] } {
  let now = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => Date.now(),
    monotonic: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
  };
}

const options = (over = {}) => ({ clock: clock(), deadlineMs: 1000, what: "db-1 to be ready", ...over });

test("what is done at once is not slept for", async () => {
  const given = options();
  await expect(waitFor(given, async () => ({ done: 42 }))).resolves.toBe(42);
  expect(given.clock.slept).toEqual([]);
});

test("it looks again until it is done", async () => {
  const given = options({ intervalMs: 100 });
  let looks = 0;
  await waitFor(given, async () => (++looks === 4 ? { done: undefined } : "not yet"));
  expect(given.clock.slept).toEqual([100, 100, 100]);
});

test("done with undefined is done", async () => {
  await expect(waitFor(options(), async () => ({ done: undefined }))).resolves.toBeUndefined();
});

test("the deadline's error says what was awaited, how long, and the last reason", async () => {
  let looks = 0;
  const waiting = waitFor(options(), async () => `reason ${++looks}`);
  await expect(waiting).rejects.toThrow(DeadlineError);
  await expect(waiting).rejects.toThrow(/^waited 1 s for db-1 to be ready: reason 5$/);
});

test("an error is a reason, and passes", async () => {
  let looks = 0;
  const look = async () => {
    if (++looks < 3) throw new Error("connection refused");
    return { done: "ready" };
  };
  await expect(waitFor(options(), look)).resolves.toBe("ready");
  const broken = async () => Promise.reject(new Error("connection refused"));
  await expect(waitFor(options(), broken)).rejects.toThrow("for db-1 to be ready: connection refused");
});

test("an error that waiting cannot mend ends it at once", async () => {
  const given = options();
  const failing = waitFor(given, async () => Promise.reject(new FatalError("gone")));
  await expect(failing).rejects.toThrow(new FatalError("gone"));
  expect(given.clock.slept).toEqual([]);
});

test("it looks once more when the time is up", async () => {
  const given = options({ deadlineMs: 250 });
  let looks = 0;
  await expect(waitFor(given, async () => (++looks === 2 ? { done: 1 } : "no"))).resolves.toBe(1);
});
