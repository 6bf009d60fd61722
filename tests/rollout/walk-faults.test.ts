import "./world/quick";
import { search } from "./world";

test("adding and removing TLS under faults", () => search("walk-faults", ["add", "remove"]), 3_600_000);
