import { staleness } from "../../rollout/reissue";
import { tlsSpec } from "./world";
import { Authority } from "./world/pki";

const DAY = 86_400_000;
const NOW = Date.parse("2026-06-01T00:00:00Z");
const ca = Authority.root("ca");
const asked = tlsSpec().tls!.certificates[0]!;

function judged(fromDays: number, toDays: number): string | undefined {
  const validity = { notBefore: new Date(NOW + fromDays * DAY), notAfter: new Date(NOW + toDays * DAY) };
  const material = ca.issue("leaf", { ...validity, encoding: asked.privateKey.encoding });
  return staleness(material, asked, ca.certificate, NOW);
}

test("a leaf in the middle of its time is left alone", () => {
  expect(judged(-10, 80)).toBeUndefined();
});

test("a leaf that has expired is issued anew", () => {
  expect(judged(-91, -1)).toMatch(/^it expired on /);
});

test("a leaf whose renewal is overdue is issued anew", () => {
  expect(judged(-80, 10)).toMatch(/was not renewed in time/);
});

test("a leaf that is not valid yet is issued anew: cert-manager sees nothing wrong with it", () => {
  expect(judged(1, 91)).toMatch(/is not valid before/);
});

test("clocks that differ by a minute are no reason to issue anew", () => {
  expect(judged(1 / 1440, 90)).toBeUndefined();
});
