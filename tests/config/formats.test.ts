import {
  canonicalIp,
  durationSeconds,
  isCertificateDnsName,
  isEmail,
  isUri,
  quantityValue,
} from "../../config/formats";

test.each([
  ["2160h", 7_776_000],
  ["1h30m", 5400],
  ["1.5h", 5400],
  ["300ms", 0.3],
  ["90d", undefined],
  ["90", undefined],
  ["-1h", undefined],
  ["", undefined],
])("Go duration %j", (text, seconds) => {
  expect(durationSeconds(text)).toBe(seconds);
});

test.each([
  ["8Gi", 8 * 1024 ** 3],
  ["500m", 0.5],
  ["1k", 1000],
  ["1e3", 1000],
  ["2E", 2e18],
  [".5", 0.5],
  ["8GB", undefined],
  ["8 Gi", undefined],
  ["-1", undefined],
  ["", undefined],
])("quantity %j", (text, value) => {
  expect(quantityValue(text)).toBe(value);
});

test.each([
  ["10.32.0.1", "10.32.0.1"],
  ["0:0:0:0:0:0:0:1", "::1"],
  ["FD00::1", "fd00::1"],
  ["10.32.1", undefined],
  ["010.0.0.1", undefined],
  ["::1%eth0", undefined],
  ["localhost", undefined],
])("IP %j", (text, address) => {
  expect(canonicalIp(text)).toBe(address);
});

test.each([
  ["*.example.org", true],
  ["example", true],
  ["*", false],
  ["a..b", false],
  ["-a.org", false],
])("DNS name %j", (text, valid) => {
  expect(isCertificateDnsName(text)).toBe(valid);
});

test("URIs and e-mail addresses", () => {
  expect(["spiffe://cluster.local/ns/etcd", "urn:x:y", "/x", "http://a b"].map(isUri)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(["a@b.org", "a@b", "a@", "a b@c", "<a@b>", ".a@b"].map(isEmail)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
