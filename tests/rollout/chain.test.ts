import { chainFault, type Purpose, purposesOf } from "../../rollout/chain";
import { Authority, type IssueOptions } from "./world/pki";

const NOW = Date.parse("2030-01-01");
const EXPIRED = { notAfter: new Date("2029-12-31") };
const NOT_YET = { notBefore: new Date("2030-01-02") };

interface Case {
  root?: IssueOptions;
  intermediate?: IssueOptions;
  leaf?: IssueOptions;
  purposes?: Purpose[];
}

/** A leaf below an intermediate below a root that is trusted. */
function judged({ root = {}, intermediate = {}, leaf = {}, purposes = ["server auth"] }: Case): string | undefined {
  const anchor = Authority.root("root", { serial: 10, ...root });
  const middle = anchor.intermediate("middle", { serial: 11, ...intermediate });
  const { certificate } = middle.issue("leaf", { serial: 12, ...leaf });
  return chainFault(certificate + middle.certificate, anchor.certificate, { now: NOW, purposes })?.why;
}

const dns = (...dnsNames: string[]) => ({ dnsNames });

test.each<[string, Case]>([
  ["nothing out of the ordinary", {}],
  ["keyCertSign where there is a key usage", { root: { keyUsage: "keyCertSign" } }],
  ["a path length that suffices", { root: { pathLength: 1 }, intermediate: { pathLength: 0 } }],
  ["a purpose that every certificate leaves", { intermediate: { usages: ["serverAuth", "clientAuth"] } }],
  ["any purpose", { intermediate: { usages: ["any"] }, leaf: { usages: ["any"] } }],
  [
    "names that are permitted",
    {
      root: {
        permits: { dnsNames: ["svc"], ipAddresses: ["10.0.0.0/255.0.0.0", "fd00::/ffff::"], uris: [".x.org"] },
        excludes: { dnsNames: ["kube.svc"], emailAddresses: ["x.org"] },
      },
      leaf: {
        names: {
          dnsNames: ["a.svc", "*.b.svc"],
          ipAddresses: ["10.1.2.3", "fd00::1"],
          uris: ["spiffe://a.x.org/b"],
          emailAddresses: ["a@y.org"],
        },
      },
    },
  ],
  [
    "names of a kind that no constraint speaks of",
    { root: { permits: dns("svc") }, leaf: { names: { uris: ["x:y"] } } },
  ],
])("accepted: %s", (_, parts) => {
  expect(judged(parts)).toBeUndefined();
});

test.each<[string, Case, RegExp]>([
  ["a leaf that has expired", { leaf: EXPIRED }, /^CN=leaf \(serial 0C, SHA-256 \S+\) expired on Dec 31 /],
  ["a leaf that has not begun", { leaf: NOT_YET }, /^CN=leaf .* is not valid before Jan {2}2 /],
  ["an intermediate that has expired", { intermediate: EXPIRED }, /^CN=middle \(serial 0B, .* expired on/],
  ["a root that has expired", { root: EXPIRED }, /^CN=root \(serial 0A, .* expired on/],
  ["a root that has not begun", { root: NOT_YET }, /^CN=root .* is not valid before/],
  ["a root without basic constraints", { root: { unconstrained: true } }, /^CN=root .* is no CA .*CA:TRUE/],
  ["a root that says it is no CA", { root: { intermediate: false } }, /^CN=root .* is no CA/],
  ["an intermediate that is no CA", { intermediate: { intermediate: false } }, /^CN=middle .* is no CA/],
  [
    "a CA that may not sign certificates",
    { root: { keyUsage: "digitalSignature" } },
    /^CN=root .*keyCertSign is missing/,
  ],
  ["a path that is too long", { root: { pathLength: 0 } }, /^CN=root .* allows 0 CAs below it \(pathLen\), .* are 1$/],
  ["another purpose of the leaf", { leaf: { usages: ["clientAuth"] } }, /^CN=leaf .* is not for server auth/],
  ["another purpose above", { intermediate: { usages: ["clientAuth"] } }, /^CN=middle .* is not for server auth/],
  ["another purpose at the top", { root: { usages: ["clientAuth"] } }, /^CN=root .* is not for server auth/],
  [
    "one of two purposes",
    { purposes: purposesOf("peer"), intermediate: { usages: ["serverAuth"] } },
    /^CN=middle .* is not for client auth/,
  ],
  [
    "a name that is not permitted",
    { root: { permits: dns("example.org") }, leaf: { names: dns("db.example.org", "db.data.svc") } },
    /^CN=root .* has name constraints: the DNS name db\.data\.svc is none that it permits \(example\.org\)/,
  ],
  [
    "a name that only looks alike",
    { root: { permits: dns("svc") }, leaf: { names: dns("db.othersvc") } },
    /DNS name db\.othersvc is none that it permits/,
  ],
  [
    "a name that is excluded by an intermediate",
    { intermediate: { excludes: dns("data.svc") }, leaf: { names: dns("db.data.svc") } },
    /^CN=middle .* it excludes the DNS name db\.data\.svc \(data\.svc\)/,
  ],
  [
    "a wildcard that stands for a name that is excluded",
    { root: { excludes: dns("a.svc") }, leaf: { names: dns("*.svc") } },
    /excludes the DNS name \*\.svc/,
  ],
  [
    "an address of the other family",
    { root: { permits: { ipAddresses: ["10.0.0.0/255.0.0.0"] } }, leaf: { names: { ipAddresses: ["::1"] } } },
    /the IP address ::1 is none that it permits \(10\.0\.0\.0\/8\)/,
  ],
  [
    "an address that is excluded",
    { root: { excludes: { ipAddresses: ["127.0.0.0/255.0.0.0"] } }, leaf: { names: { ipAddresses: ["127.0.0.1"] } } },
    /excludes the IP address 127\.0\.0\.1/,
  ],
  [
    "a mailbox that is excluded",
    { root: { excludes: { emailAddresses: ["a@X.org"] } }, leaf: { names: { emailAddresses: ["a@x.org"] } } },
    /excludes the email address a@x\.org/,
  ],
  [
    "a critical extension that Go does not know",
    { root: { critical: "2a03" } },
    /^CN=root .* critical extension .*1\.2\.3/,
  ],
])("refused, by name and rule: %s", (_, parts, why) => {
  expect(judged(parts)).toMatch(why);
});

describe("where there are several ways up", () => {
  const old = Authority.root("root", EXPIRED);
  const renewed = old.renewed({ serial: 2 });
  const { certificate } = old.issue("leaf");
  const terms = { now: NOW, purposes: purposesOf("peer") };

  test("one that is sound does, whatever the others are", () => {
    expect(chainFault(certificate, old.certificate + renewed.certificate, terms)).toBeUndefined();
    expect(chainFault(certificate, renewed.certificate + old.certificate, terms)).toBeUndefined();
  });

  test("a CA of the name with another key is none", () => {
    const fault = chainFault(certificate, Authority.root("root").certificate, terms);
    expect(fault).toMatchObject({ unknown: true, why: expect.stringMatching(/^CN=leaf .* is signed by CN=root, and/) });
  });

  test("an anchor that is the leaf itself is enough, and nothing is not", () => {
    expect(chainFault(certificate, certificate, terms)).toBeUndefined();
    expect(chainFault(certificate, "", terms)?.unknown).toBe(true);
    expect(chainFault("", certificate, terms)?.unknown).toBe(true);
  });
});

test("what a certificate is shown for", () => {
  expect(purposesOf("server")).toEqual(["server auth"]);
  expect(purposesOf("client")).toEqual(["client auth"]);
  expect(purposesOf("server", "client")).toEqual(["server auth", "client auth"]);
});
