import { parseSpec } from "../../config";
import { normalizeTrust, renderTrustBundle, trustRevision } from "../../manifests";
import { CA_A, CA_B } from "./pem";

test("the revision names the set: order, repetition, comments and line ends don't matter", () => {
  const both = trustRevision(CA_A + CA_B);
  expect(both).toMatch(/^[0-9a-f]{12}$/);
  expect(trustRevision(CA_B + CA_A)).toBe(both);
  expect(trustRevision(CA_A + CA_B + CA_A)).toBe(both);
  expect(trustRevision(`# old\n${CA_A.replaceAll("\n", "\r\n")}\n# new\n${CA_B}`)).toBe(both);
});

test("another set has another revision", () => {
  expect(new Set([CA_A, CA_B, CA_A + CA_B].map(trustRevision)).size).toBe(3);
});

test("the bundle holds each certificate once, in a fixed order", () => {
  expect(normalizeTrust(CA_B + CA_A + CA_B)).toBe(normalizeTrust(CA_A + CA_B));
  expect(normalizeTrust(CA_A)).toBe(CA_A);
  const { data } = renderTrustBundle(parseSpec({}).spec, CA_A);
  const members = `members-${trustRevision(CA_A)}.crt`;
  expect(data).toEqual({ "ca.crt": CA_A, [members]: CA_A });
  const widened = renderTrustBundle(parseSpec({}).spec, CA_A + CA_B, { [members]: CA_A }).data as object;
  expect(Object.keys(widened)).toHaveLength(3);
  expect(widened).toHaveProperty([members], CA_A);
});

test.each(["", "ca", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"])("no certificate in it: %j", (pem) => {
  expect(() => trustRevision(pem)).toThrow(/no certificate/);
  expect(() => renderTrustBundle(parseSpec({}).spec, pem)).toThrow(/no certificate/);
});
