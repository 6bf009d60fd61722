import { type FaultRow, mergeFaults } from "../e2e/harness/fault-report";

const row = (group: string, fault: string, more: Partial<FaultRow> = {}): FaultRow => ({
  group,
  during: "adding TLS",
  fault,
  restarts: 6,
  needed: [6, 6],
  written: 4000,
  lost: 0,
  failed: 0,
  longestMs: 1240,
  twoDown: false,
  reached: "by the next update",
  ...more,
});

const KILL = "| adding TLS | kill | 6 of 6 | 4000 | 0 | 0 | 1.2 s | by the next update |";

test("a row says what came of a fault", () => {
  expect(mergeFaults("", [row("Kills", "kill")])).toContain(KILL);
  const worse = row("Kills", "kill", { restarts: 7, lost: 2, twoDown: true, reached: "not reached" });
  expect(mergeFaults("", [worse])).toContain("| 7 of 6, two at once | 4000 | 2 | 0 | 1.2 s | not reached |");
});

test("where the number of restarts depends on who is faster, the row has both ends", () => {
  const loose = row("Kills", "kill", { restarts: 2, needed: [0, 4] });
  expect(mergeFaults("", [loose])).toContain("| adding TLS | kill | 2 (0 to 4) | 4000 |");
});

test("a run replaces the tables of its own groups, and no others", () => {
  const first = mergeFaults("", [row("Kills", "kill"), row("Pods", "deleted")]);
  const second = mergeFaults(first, [row("Pods", "evicted")]);
  expect(second).toContain(KILL);
  expect(second).toContain("| adding TLS | evicted |");
  expect(second).not.toContain("| adding TLS | deleted |");
  expect(second.match(/^## .*$/gm)).toEqual(["## Kills", "## Pods"]);
});

test("the same rows once more change nothing", () => {
  const rows = [row("Kills", "kill"), row("Pods", "deleted")];
  const once = mergeFaults("", rows);
  expect(mergeFaults(once, rows)).toBe(once);
});
