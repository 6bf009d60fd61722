import fc from "fast-check";
import { live, schedule } from "./world";

const numRuns = Number(process.env.ROLLOUT_SCHEDULES ?? 1500);
const seed = process.env.ROLLOUT_SEED === undefined ? undefined : Number(process.env.ROLLOUT_SEED);

test(`${numRuns} schedules of faults`, async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (drawn) => (await live(drawn)).verify()),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
}, 600_000);
