/** @type {import("jest").Config} */
module.exports = {
  rootDir: "../..",
  testMatch: ["<rootDir>/tests/e2e/*.test.ts"],
  // The long cases run on demand.
  testPathIgnorePatterns: ["/node_modules/", ...(process.env.PULUMI_ETCD_E2E_FULL ? [] : ["-full\\.test\\.ts$"])],
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
