// The long cases run on demand: those of operations, and those of faults.
const left = [
  ...(process.env.PULUMI_ETCD_E2E_FULL ? [] : ["tests/e2e/[^/]*-full\\.test\\.ts$"]),
  ...(process.env.PULUMI_ETCD_E2E_FAULTS ? [] : ["tests/e2e/faults/[^/]*-full\\.test\\.ts$"]),
];

/** @type {import("jest").Config} */
module.exports = {
  rootDir: "../..",
  testMatch: ["<rootDir>/tests/e2e/*.test.ts", "<rootDir>/tests/e2e/faults/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", ...left],
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  globalSetup: "<rootDir>/tests/e2e/harness/global-setup.ts",
  globalTeardown: "<rootDir>/tests/e2e/harness/global-teardown.ts",
  // One case at a time: what is measured beside it would not be its own.
  maxWorkers: 1,
  testTimeout: 60_000,
  verbose: true,
};
