import "./world/quick";
import { search } from "./world";

test("changes of an own CA and of given Secrets under faults", async () => {
  await search("walk-faults-sources", [
    "own-ca: add",
    "own-ca: remove",
    "own-ca: next generation",
    "own-ca: another name",
    "own-ca: rotate",
    "secrets: add",
    "secrets: remove",
    "secrets: others",
    "secrets: another CA",
    "secrets: renewed",
  ]);
}, 3_600_000);
