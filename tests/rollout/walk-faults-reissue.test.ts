import "./world/quick";
import { search } from "./world";

test("another issuer, rotation and another template under faults", async () => {
  await search("walk-faults-reissue", ["reissue", "rotate", "template"]);
}, 3_600_000);
