import { markdown, type ReportRow, rowsOfOthers } from "../e2e/harness/report";

const row: ReportRow = {
  case: "three",
  operation: "add",
  updateMs: 30_000,
  idleMs: 6_500,
  walkMs: 20_000,
  floorMs: 18_500,
  passes: 2,
  restarts: 6,
  writers: [
    { name: "go", acknowledged: 1200, failed: 0, longestMs: 210 },
    { name: "node", acknowledged: 1180, failed: 1, longestMs: 1100 },
  ],
};

const LINE =
  "| three | add | 2 | 6 | 30.0 s | 6.5 s | 18.5 s | 1.20 | go 1200, node 1180 | go 0, node 1 | go 0.2 s, node 1.1 s |";

test("a row says what an operation took, and what clients noticed", () => {
  expect(markdown([row]).split("\n")[2]).toBe(LINE);
});

describe("a run of some of the cases", () => {
  const earlier = markdown([row, { ...row, case: "five", passes: 9 }, { ...row, case: "five", operation: "remove" }]);

  test("replaces the rows of these, and leaves the others", () => {
    const rows = [{ ...row, case: "five", passes: 1 }];
    const lines = markdown(rows, rowsOfOthers(`# Title\n\n${earlier}`, rows)).split("\n");
    expect(lines.slice(2)).toEqual([LINE.replace("| three | add | 2 |", "| five | add | 1 |"), LINE, ""]);
  });

  test("takes nothing over from a table with other columns", () => {
    expect(rowsOfOthers(earlier.replace("| passes ", "| turns "), [])).toEqual([]);
  });
});
