import fc from "fast-check";
import { ConfigError, type ConfigProblem, classify, diffSpecs, type EtcdSpec, parseSpec } from "../../config";
import { rawConfig } from "./arbitraries";

type Raw = Record<string, unknown>;

const issuerRef = { name: "ca-a" };
const spec = (raw: Raw) => parseSpec(raw).spec;
const between = (old: Raw, next: Raw) => classify(spec(old), spec(next));
const certificate = (fields: object) => ({ tls: { issuerRef, certificates: [{ alias: "server", ...fields }] } });

function refusals(old: Raw, next: Raw): ConfigProblem[] {
  try {
    between(old, next);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("operation", () => {
  test.each<[string, Raw, Raw, object]>([
    ["add", {}, { tls: { issuerRef } }, { kind: "add", aliases: ["server", "peer", "client"], templateChanged: false }],
    ["remove", { tls: { issuerRef } }, {}, { kind: "remove", aliases: [], templateChanged: false }],
    [
      "another issuer",
      { tls: { issuerRef } },
      { tls: { issuerRef: { name: "ca-b" } } },
      { kind: "reissue", aliases: ["server", "peer", "client"], issuerChanged: true },
    ],
    [
      "another issuer of one certificate",
      { tls: { issuerRef } },
      certificate({ issuerRef: { name: "ca-b" } }),
      { kind: "reissue", aliases: ["server"], issuerChanged: true },
    ],
    [
      "further names",
      { tls: { issuerRef } },
      certificate({ dnsNames: ["etcd.example.org"] }),
      { kind: "reissue", aliases: ["server"], issuerChanged: false, templateChanged: false },
    ],
    [
      "one certificate more",
      { tls: { issuerRef } },
      { tls: { issuerRef, certificates: [{ alias: "metrics-exporter" }] } },
      { kind: "reissue", aliases: ["metrics-exporter"] },
    ],
    [
      "a first token",
      { tls: { issuerRef } },
      { tls: { issuerRef, rotate: "1" } },
      { kind: "rotate", aliases: ["server", "peer", "client"], issuerChanged: false },
    ],
    ["another token", { tls: { issuerRef, rotate: "1" } }, { tls: { issuerRef, rotate: "2" } }, { kind: "rotate" }],
    ["a token taken away", { tls: { issuerRef, rotate: "1" } }, { tls: { issuerRef } }, { kind: "none", aliases: [] }],
    [
      "another issuer, and a token taken away",
      { tls: { issuerRef, rotate: "1" } },
      { tls: { issuerRef: { name: "ca-b" } } },
      { kind: "reissue" },
    ],
    ["a flag", {}, { extraArgs: { "pre-vote": true } }, { kind: "template", templateChanged: true }],
    ["the next minor release", { version: "3.5.21" }, { version: "3.6.16" }, { kind: "template" }],
    ["a setting", {}, { rollout: { stepTimeout: "9m" } }, { kind: "none", templateChanged: false }],
    [
      "TLS and a flag",
      {},
      { tls: { issuerRef }, extraArgs: { "pre-vote": true } },
      { kind: "add", templateChanged: true },
    ],
  ])("%s", (_, old, next, expected) => {
    expect(between(old, next)).toMatchObject(expected);
  });

  test("create", () => {
    expect(classify(undefined, spec({ tls: { issuerRef } }))).toEqual({
      kind: "create",
      changes: [],
      aliases: ["server", "peer", "client"],
      issuerChanged: false,
      templateChanged: false,
    });
  });

  test("none where nothing differs, whatever the config", () => {
    fc.assert(
      fc.property(rawConfig, (raw) => {
        expect(classify(spec(raw), spec(structuredClone(raw)))).toMatchObject({
          kind: "none",
          changes: [],
          aliases: [],
        });
      }),
    );
  });
});

describe("refusals", () => {
  test.each<[string, Raw, Raw, string, RegExp]>([
    ["scaling", {}, { replicas: 5 }, "etcd:replicas", /neither added nor removed/],
    ["name", {}, { name: "other" }, "etcd:name", /replaces the workload/],
    ["namespace", {}, { namespace: "other" }, "etcd:namespace", /replaces the workload/],
    ["workload", {}, { workload: "PetSet" }, "etcd:workload.kind", /Set it back to "StatefulSet"/],
    ["storage size", {}, { storage: { size: "9Gi" } }, "etcd:storage.size", /Set it back to "8Gi"/],
    ["storage class", {}, { storage: { class: "" } }, "etcd:storage.class", /Leave it out again/],
    ["domain", {}, { clusterDomain: "k8s.local" }, "etcd:clusterDomain", /registered/],
    ["namespace given away", {}, { createNamespace: false }, "etcd:createNamespace", /delete the namespace/],
    ["older minor release", { version: "3.6.16" }, { version: "3.5.21" }, "etcd:version", /downgrade by hand/],
    ["two minor releases", { version: "3.5.21" }, { version: "3.7.0" }, "etcd:version", /Go to 3\.6 first/],
    [
      "rotation while TLS is added",
      {},
      { tls: { issuerRef, rotate: "1" } },
      "etcd:tls.rotate",
      /^rotateCertificates requires TLS to already be enabled with issuerRef on Etcd\./,
    ],
    [
      "rotation and another issuer",
      { tls: { issuerRef } },
      { tls: { issuerRef: { name: "ca-b" }, rotate: "1" } },
      "etcd:tls.rotate",
      /^only one TLS reconfiguration operation is allowed at a time\./,
    ],
    [
      "another algorithm for a key that is kept",
      certificate({ privateKey: { rotationPolicy: "Never" } }),
      certificate({ privateKey: { rotationPolicy: "Never", algorithm: "ECDSA" } }),
      "etcd:tls.certificates[server].privateKey.algorithm",
      /rotationPolicy is Never/,
    ],
  ])("%s", (_, old, next, path, text) => {
    const problem = refusals(old, next).find((each) => each.path === path);
    expect(problem && `${problem.rule}. ${problem.mend}`).toMatch(text);
  });

  test("patch releases go both ways", () => {
    expect(between({ version: "3.6.16" }, { version: "3.6.8" }).kind).toBe("template");
  });
});

describe("diff", () => {
  test("goes by alias and name down to the single value", () => {
    const old = { ...certificate({ duration: "24h" }), extraEnv: [{ name: "GOGC", value: "50" }] };
    const next = { ...certificate({ duration: "48h", uris: ["urn:x:y"] }), extraEnv: [{ name: "GOGC", value: "60" }] };
    expect(diffSpecs(spec(old), spec(next))).toEqual([
      { path: "extraEnv[GOGC].value", old: "50", new: "60" },
      { path: "tls.certificates[server].duration", old: "24h", new: "48h" },
      { path: "tls.certificates[server].uris", old: [], new: ["urn:x:y"] },
    ]);
  });

  test("shows what comes as absent before", () => {
    const changes = diffSpecs(spec({}), spec({ tls: { issuerRef }, extraEnv: [{ name: "A", value: "" }] }));
    expect(changes).toContainEqual({ path: "tls.issuerRef.name", old: undefined, new: "ca-a" });
    expect(changes).toContainEqual({ path: "extraEnv[A].value", old: undefined, new: "" });
  });

  test("puts names with dots into brackets", () => {
    const next = spec({ resources: { limits: { "nvidia.com/gpu": 1 } } });
    expect(diffSpecs(spec({ resources: { limits: {} } }), next)).toEqual([
      { path: 'resources.limits["nvidia.com/gpu"]', old: undefined, new: "1" },
    ]);
  });

  test("sees another order of variables", () => {
    const variables = [
      { name: "A", value: "1" },
      { name: "B", value: "$(A)" },
    ];
    const changes = diffSpecs(spec({ extraEnv: variables }), spec({ extraEnv: [...variables].reverse() }));
    expect(changes.map(({ path }) => path)).toEqual(["extraEnv"]);
  });

  test("sees an empty map that an older record lacks", () => {
    const { extraArgs, ...older } = spec({});
    expect(diffSpecs(older as EtcdSpec, spec({}))).toEqual([{ path: "extraArgs", old: undefined, new: extraArgs }]);
  });

  test("is empty if and only if the specs are equal", () => {
    fc.assert(
      fc.property(rawConfig, rawConfig, fc.boolean(), (left, right, mix) => {
        const [old, next] = [spec(left), spec(mix ? { ...left, tls: right.tls } : right)];
        expect(diffSpecs(old, next).length === 0).toBe(JSON.stringify(sorted(old)) === JSON.stringify(sorted(next)));
      }),
      { numRuns: 300 },
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
}
