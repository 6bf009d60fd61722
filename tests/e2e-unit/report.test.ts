import { markdown } from "../e2e/harness/report";

test("a row says what an operation took, and what clients noticed", () => {
  const table = markdown([
    {
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
    },
  ]);
  expect(table.split("\n")[2]).toBe(
    "| three | add | 2 | 6 | 30.0 s | 6.5 s | 18.5 s | 1.20 | go 1200, node 1180 | go 0, node 1 | go 0.2 s, node 1.1 s |",
  );
});
