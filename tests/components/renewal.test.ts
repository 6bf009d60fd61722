import { renewalNotice } from "../../components/renewal";

const notice = (now: string) =>
  renewalNotice(
    "the CA etcd CA",
    "2031-01-01T00:00:00Z",
    { duration: "87600h", renewBefore: "8760h" },
    Date.parse(`${now}T00:00:00Z`),
  );

test("a renewal is announced a month ahead, and until the certificate has ended", () => {
  expect(notice("2029-11-01")).toBeUndefined();
  expect(notice("2029-12-15")).toBe(
    "the CA etcd CA ends on 2031-01-01; the first update from 2030-01-01 on makes it anew, and nothing does before that",
  );
  expect(notice("2030-06-01")).toContain("ends on 2031-01-01");
  expect(notice("2031-01-01")).toBeUndefined();
});

test("what lives for hours is not announced from its first moment on", () => {
  const of = (now: string) =>
    renewalNotice("x", "2030-01-02T00:00:00Z", { duration: "24h", renewBefore: "8h" }, Date.parse(now));
  expect(of("2030-01-01T04:00:00Z")).toBeUndefined();
  expect(of("2030-01-01T12:00:00Z")).toContain("ends on 2030-01-02");
});
