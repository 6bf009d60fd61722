import "./world/quick";
import fc from "fast-check";
import { live, schedule, searchParameters } from "./world";

const changes = schedule(["reissue", "rotate", "template"]);

test("another issuer, rotation and another template under faults", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (drawn) => (await live(drawn)).verify()),
    searchParameters(),
  );
}, 3_600_000);
