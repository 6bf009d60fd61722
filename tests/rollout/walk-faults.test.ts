import fc from "fast-check";
import { live, schedule } from "./world";

// Memoized: see there.
jest.mock("../../manifests", () =>
  require("./world/memoized").memoized(jest.requireActual("../../manifests"), ["render", "trust", "normalize"]),
);
jest.mock("../../rollout/x509", () =>
  require("./world/memoized").memoized(jest.requireActual("../../rollout/x509"), ["certificatesOf", "chainsTo"]),
);

/** ROLLOUT_SCHEDULES=100000 for a long search; ROLLOUT_SEED to see again what a failure printed. */
const numRuns = Number(process.env.ROLLOUT_SCHEDULES ?? 1500);
const seed = process.env.ROLLOUT_SEED === undefined ? undefined : Number(process.env.ROLLOUT_SEED);

test(`${numRuns} schedules of faults`, async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (drawn) => (await live(drawn)).verify()),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
}, 3_600_000);
