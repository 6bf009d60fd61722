import { minorOf, minorsBetween, nextMinor, parseHosts, parseSpec } from "../../config";
import { hasFlag } from "../../config/etcd-flags";
import { BRIDGE, renderWorkload, TLS } from "../../manifests";
import { between, type Raw, refusals, spec } from "./between";
import { problemsOf } from "./problems-of";

const issuerRef = { name: "ca" };
const tls = { issuerRef };

test("minor releases", () => {
  expect(minorOf("3.7.3-rc.1")).toBe("3.7");
  expect(minorOf("not a version")).toBe("0.0");
  expect(nextMinor("3.9")).toBe("3.10");
  expect(minorsBetween("3.9", "3.10")).toBe(1);
  expect(minorsBetween("3.7", "3.5")).toBe(-2);
  expect(minorsBetween("3.7", "4.0")).toBe(Number.POSITIVE_INFINITY);
});

test("the default is the current release", () => {
  const { version, image } = parseSpec({}).spec;
  expect([version, image]).toEqual(["3.7.3", "quay.io/coreos/etcd:v3.7.3"]);
});

describe("from one version to another", () => {
  test.each([
    ["3.5.20", "3.5.36"],
    ["3.5.36", "3.5.20"],
    ["3.5.26", "3.6.17"],
    ["3.5.36", "3.6.0"],
    ["3.6.11", "3.7.3"],
    ["3.7.3", "3.6.17"],
    ["3.6.17", "3.5.36"],
    // Nothing is known of 3.8 but that it comes after 3.7.
    ["3.7.0", "3.8.0"],
  ])("%s -> %s is walked to", (from, to) => {
    expect(between({ version: from }, { version: to }).kind).toBe("template");
  });

  test.each([
    ["3.5.36", "3.7.3", /one minor release at a time/, "Go to 3.6.17 first"],
    ["3.7.3", "3.5.36", /one minor release at a time/, "Go to 3.6.17 first"],
    ["3.7.3", "4.0.0", /one minor release at a time/, "Go to 3.8 first"],
    ["3.5.25", "3.6.17", /reached from 3\.5\.26 or later.*not from 3\.5\.25/, "Go to 3.5.36 first"],
    ["3.6.10", "3.7.3", /reached from 3\.6\.11 or later.*not from 3\.6\.10/, "Go to 3.6.17 first"],
  ])("%s -> %s is refused", (from, to, rule, mend) => {
    expect(refusals({ version: from }, { version: to })).toEqual([
      { path: "etcd:version", value: to, rule: expect.stringMatching(rule), mend },
    ]);
  });

  test.each<[string, Raw, Raw, string]>([
    ["TLS is added", {}, { tls }, "etcd:tls"],
    ["TLS is removed", { tls }, {}, "etcd:tls"],
    ["another issuer", { tls }, { tls: { issuerRef: { name: "other" } } }, "etcd:tls.issuerRef.name"],
    ["rotation", { tls }, { tls: { issuerRef, rotate: "1" } }, "etcd:tls.rotate"],
    ["how TLS is spoken", { tls }, { tls: { issuerRef, client: { auth: "none" } } }, "etcd:tls.client.auth"],
  ])("another minor release and %s: one at a time", (_, old, next, other) => {
    const problem = { path: "etcd:version", value: "3.7.3", mend: `Change it in one update and ${other} in another` };
    expect(refusals({ ...old, version: "3.6.17" }, { ...next, version: "3.7.3" })).toMatchObject([problem]);
    expect(refusals({ ...old, version: "3.7.0" }, { ...next, version: "3.7.3" })).toEqual([]);
  });

  test("another minor release and a flag go together: some flags change their names with it", () => {
    const old = { version: "3.6.17", extraArgs: { "experimental-memory-mlock": true } };
    expect(between(old, { version: "3.7.3", extraArgs: { "memory-mlock": true } }).kind).toBe("template");
  });
});

describe("image and version", () => {
  test("a tag of another minor release is refused", () => {
    expect(problemsOf({ version: "3.6.17", image: "quay.io/coreos/etcd:v3.5.36" })).toEqual([
      {
        path: "etcd:image",
        value: "quay.io/coreos/etcd:v3.5.36",
        rule: "names etcd 3.5.36, and etcd:version is 3.6.17: they must be of one minor release",
        mend: "Leave etcd:version out where the tag is right, or etcd:image where the version is",
      },
    ]);
  });

  test("a tag of another patch release is a warning", () => {
    const { warnings } = parseSpec({ version: "3.6.1", image: "x/etcd:v3.6.2" });
    expect(warnings.map(({ path }) => path)).toEqual(["etcd:version"]);
  });

  test.each(["localhost/etcd:latest", `localhost/etcd@sha256:${"a".repeat(64)}`])(
    "%s tells no version: it must be written",
    (image) => {
      const [problem] = problemsOf({ image });
      expect(problem).toMatchObject({ path: "etcd:version", rule: expect.stringContaining(`such as ${image}`) });
      expect(problemsOf({ image, version: "3.6.17" })).toEqual([]);
    },
  );
});

describe("flags by version", () => {
  const flag = (version: string, extraArgs: Raw) => problemsOf({ version, extraArgs })[0];

  test.each([
    ["3.7.3", "experimental-corrupt-check-time", "Write `corrupt-check-time`"],
    ["3.5.36", "corrupt-check-time", "Write `experimental-corrupt-check-time`"],
    ["3.7.3", "experimental-initial-corrupt-check", "Write `feature-gates: InitialCorruptCheck=true` or `=false`"],
    ["3.6.17", "enable-v2", expect.stringContaining("`etcdutl check v2store`")],
    ["3.7.3", "proxy-read-timeout", expect.stringContaining("the v2 proxy is gone")],
    ["3.5.36", "feature-gates", "Write the flag `experimental-...` of the feature"],
    ["3.5.36", "log-format", "Leave it out"],
    ["3.5.36", "max-learners", "Leave it out"],
    ["3.7.3", "experimental-warning-unary-request-duration", "Write `warning-unary-request-duration`"],
    ["3.7.3", "snapshot-counts", "Did you mean `snapshot-count`?"],
    ["3.7.3", "qwertyuiop", "Write it as `etcd --help` prints it, or leave it out"],
  ])("etcd %s does not start with --%s", (version, name, mend) => {
    expect(flag(version, { [name]: "1" })).toEqual({
      path: `etcd:extraArgs.${name}`,
      value: "1",
      rule: expect.stringMatching(/^is (a flag that|no flag of) etcd 3\.[567]/),
      mend,
    });
  });

  test.each([
    ["3.5.36", { "enable-v2": "false", "experimental-corrupt-check-time": "1h", proxy: "off" }],
    [
      "3.6.17",
      { "experimental-corrupt-check-time": "1h", "memory-mlock": "true", "feature-gates": "CompactHashCheck=true" },
    ],
    ["3.7.3", { "corrupt-check-time": "1h", "feature-gates": "PriorityRequest=true,AllBeta=false", vv: "1" }],
    // Nobody knows yet which flags 3.8 will bring, but those that are gone will not come back.
    ["3.8.0", { "a-flag-to-come": "1", "feature-gates": "ToCome=true" }],
  ])("etcd %s starts with %j", (version, extraArgs) => {
    expect(problemsOf({ version, extraArgs })).toEqual([]);
  });

  test("what is gone stays gone", () => {
    expect(flag("3.8.0", { "experimental-memory-mlock": "true" })).toMatchObject({ mend: "Write `memory-mlock`" });
  });

  test.each([
    [
      "3.6.17",
      { "feature-gates": "FastLeaseKeepAlive=true" },
      /names `FastLeaseKeepAlive`.*no feature gate of etcd 3\.6/,
    ],
    ["3.7.3", { "feature-gates": "CompactHashCheck=true,Typo=true" }, /names `Typo`/],
    ["3.6.17", { "v2-deprecation": "not-yet" }, /no value that etcd 3\.6 knows/],
    ["3.6.17", { "experimental-memory-mlock": "true", "memory-mlock": "true" }, /together with memory-mlock/],
    [
      "3.6.17",
      { "experimental-compact-hash-check-enabled": "true", "feature-gates": "CompactHashCheck=true" },
      /together with feature-gates/,
    ],
  ])("etcd %s exits with %j", (version, extraArgs, rule) => {
    expect(problemsOf({ version, extraArgs })).toMatchObject([{ rule: expect.stringMatching(rule) }]);
  });

  test("a variable of etcd is no way around it", () => {
    const extraEnv = [{ name: "ETCD_EXPERIMENTAL_MEMORY_MLOCK", value: "true" }];
    expect(problemsOf({ extraEnv })).toMatchObject([{ path: "etcd:extraEnv[0].name" }]);
  });

  test("hosts go by the same table", () => {
    const raw = { hosts: [{ name: "a", address: "10.0.0.1" }], extraArgs: { "experimental-memory-mlock": "true" } };
    expect(() => parseHosts(raw)).toThrow(/Write `memory-mlock`/);
    expect(() => parseHosts({ ...raw, version: "3.6.17" })).not.toThrow();
  });

  test.each(["3.5", "3.6", "3.7"] as const)("etcd %s has every flag that the product sets", (minor) => {
    const all = spec({
      tls: { issuerRef, minVersion: "TLS1.2", cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"] },
    });
    for (const stage of [BRIDGE, TLS]) {
      const { spec: workload } = renderWorkload(all, { stage, trustRevision: "r" }, { owner: "o" });
      const { args, command } = (workload as Workload).template.spec.containers[0]!;
      const flags = [...(command ?? []), ...(args ?? [])].filter((each) => each.startsWith("--"));
      expect(flags.length).toBeGreaterThan(15);
      expect(flags.map((each) => each.slice(2).split("=")[0]!).filter((name) => !hasFlag(name, minor))).toEqual([]);
    }
  });
});

interface Workload {
  template: { spec: { containers: { args?: string[]; command?: string[] }[] } };
}
