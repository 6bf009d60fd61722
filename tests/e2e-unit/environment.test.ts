import { skipReason } from "../e2e/harness/environment";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["run", undefined],
  ["skip", "PULUMI_ETCD_E2E=skip"],
  ["skip: no root", "no root"],
])("PULUMI_ETCD_E2E=%s skips the cases against a cluster because of %s", (value, reason) => {
  expect(skipReason({ ...(value !== undefined && { PULUMI_ETCD_E2E: value }) })).toBe(reason);
});
