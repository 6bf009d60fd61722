import "./world/quick";
import fc from "fast-check";
import { live, schedule, searchParameters } from "./world";

const changes = schedule(["add", "remove"]);

test("adding and removing TLS under faults", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (drawn) => (await live(drawn)).verify()),
    searchParameters(),
  );
}, 3_600_000);
