import { retrying } from "../e2e/writer/retry";

const policy = { attemptMs: 1000, pauseMs: 50, overallMs: 10_000, eitherScheme: false };

/** Time that passes only when somebody waits. */
class TestClock {
  time = 0;
  now = () => this.time;
  sleep = async (ms: number) => {
    this.time += ms;
  };
}

test("an attempt that succeeds is the last", async () => {
  const clock = new TestClock();
  const outcome = await retrying(policy, clock, async (number) => {
    if (number < 2) throw new Error("not yet");
  });
  expect(outcome).toEqual({ ok: true, attempts: 3 });
  expect(clock.time).toBe(100);
});

test("after the overall time a write has failed, with the last reason, and no attempt is given more than is left", async () => {
  const clock = new TestClock();
  const deadlines: number[] = [];
  const outcome = await retrying(policy, clock, async (number, deadlineMs) => {
    deadlines.push(deadlineMs);
    clock.time += deadlineMs;
    throw new Error(`attempt ${number} timed out`);
  });
  expect(outcome).toEqual({ ok: false, attempts: 10, error: "attempt 9 timed out" });
  expect(clock.time).toBe(10_000);
  expect(deadlines.slice(0, 9)).toEqual(Array(9).fill(1000));
  expect(deadlines[9]).toBe(550);
});

test("an attempt that throws at once counts as a failed one", async () => {
  const outcome = await retrying(policy, new TestClock(), (number) => {
    if (number === 0) throw new Error("no credentials yet");
    return Promise.resolve();
  });
  expect(outcome).toEqual({ ok: true, attempts: 2 });
});
