import { explainFailures } from "../e2e/harness/dropped-writes";
import type { WriteEvent } from "../e2e/writer/ledger";

const elections = [
  { at: 10_000, until: 10_000, term: 3, leader: "etcd-1" },
  { at: 20_000, until: 20_100, term: 4, leader: "etcd-0" },
];

const failed = (at: number): WriteEvent => ({
  key: `k${at}`,
  at,
  ms: 5000,
  scheme: "http",
  ok: false,
  error: "deadline",
});

test("a write that was on its way when leadership moved was dropped by etcd", () => {
  const failures = [failed(9_885), failed(19_999), failed(20_040), failed(20_140)];
  expect(explainFailures(failures, elections)).toEqual({ dropped: failures, unexplained: [] });
});

test("a write that failed at any other time was not", () => {
  const failures = [failed(9_400), failed(10_100), failed(15_000)];
  expect(explainFailures(failures, elections)).toEqual({ dropped: [], unexplained: failures });
});

test("without a move nothing is explained", () => {
  expect(explainFailures([failed(10_000)], []).unexplained).toHaveLength(1);
});
