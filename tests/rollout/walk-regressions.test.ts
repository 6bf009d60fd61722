import { KNOWN, REGRESSIONS } from "./regressions";
import { live } from "./world";

test.each(Object.entries(REGRESSIONS))("%s", async (_, schedule) => (await live(schedule)).verify());

for (const [name, schedule] of Object.entries(KNOWN)) {
  test.failing(name, async () => (await live(schedule)).verify());
}
