import fc from "fast-check";
import { live, schedule, searchParameters } from "./world";

// Thousands of schedules fit into seconds that way.
jest.mock("../../manifests", () =>
  require("./world/memoized").memoized(jest.requireActual("../../manifests"), ["render", "trust", "normalize"]),
);
jest.mock("../../rollout/x509", () =>
  require("./world/memoized").memoized(jest.requireActual("../../rollout/x509"), ["certificatesOf", "chainsTo"]),
);

const changes = schedule(["reissue", "rotate", "template"]);

test("another issuer, rotation and another template under faults", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (drawn) => (await live(drawn)).verify()),
    searchParameters(),
  );
}, 3_600_000);
