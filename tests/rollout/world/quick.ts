/**
 * To be imported first by tests that live through thousands of schedules: what is pure and slow is computed once.
 */

jest.mock("../../../manifests", () =>
  require("./memoized").memoized(jest.requireActual("../../../manifests"), ["render", "trust", "normalize"]),
);
jest.mock("../../../config", () => require("./memoized").memoized(jest.requireActual("../../../config"), ["classify"]));
jest.mock("../../../rollout/x509", () => {
  const pure = ["certificatesOf", "chainsTo", "isSignedBy", "matchesKey", "readProfile", "subjectAltNames"];
  return require("./memoized").memoized(jest.requireActual("../../../rollout/x509"), pure);
});
