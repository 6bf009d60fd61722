// The long cases run on demand: those of operations, and those of faults.
const left = [
  ...(process.env.PULUMI_ETCD_E2E_FULL ? [] : ["tests/e2e/[^/]*-full\\.test\\.ts$"]),
  ...(process.env.PULUMI_ETCD_E2E_FAULTS ? [] : ["tests/e2e/faults/[^/]*-full\\.test\\.ts$"]),
];

// Cases that stop a part of the cluster, or close its one node: no other case may run beside them.
const alone = ["issuers", "pods", "api-server-full", "certificates-full", "pods-each-step-full", "starts-full"];
const ALONE = `tests/e2e/faults/(${alone.join("|")})\\.test\\.ts$`;

/** PULUMI_ETCD_E2E_BESIDE chooses the cases: `others` those that bear others beside them, `nobody` those that don't. */
const chosen = { others: [ALONE], nobody: [`tests/e2e/(?!faults/(${alone.join("|")})\\.test\\.ts$)`] };
const kept = chosen[process.env.PULUMI_ETCD_E2E_BESIDE] ?? [];

/** @type {import("jest").Config} */
module.exports = {
  rootDir: "../..",
  testMatch: ["<rootDir>/tests/e2e/*.test.ts", "<rootDir>/tests/e2e/faults/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", ...left, ...kept],
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  globalSetup: "<rootDir>/tests/e2e/harness/global-setup.ts",
  globalTeardown: "<rootDir>/tests/e2e/harness/global-teardown.ts",
  // One case at a time, unless asked otherwise: what is measured beside another is not a case's own.
  maxWorkers: 1,
  testTimeout: 60_000,
  verbose: true,
};
