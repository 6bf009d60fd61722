import fc from "fast-check";
import { classify, diffSpecs, type EtcdSpec } from "../../config";
import { CA_B } from "../manifests/pem";
import { rawConfig } from "./arbitraries";
import { between, type Raw, refusals, spec } from "./between";

const issuerRef = { name: "ca-a" };
const certificate = (fields: object) => ({ tls: { issuerRef, certificates: [{ alias: "server", ...fields }] } });

const TEMPLATE = { kind: "template", aliases: [], issuerChanged: false, caMayChange: false, templateChanged: true };
const RSA_SUITE = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
const ECDSA_SUITE = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
const ONE_AT_A_TIME = /^only one TLS reconfiguration operation is allowed at a time\./;

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
    ["the next minor release", { version: "3.6.17" }, { version: "3.7.3" }, { kind: "template" }],
    ["a setting", {}, { rollout: { stepTimeout: "9m" } }, { kind: "none", templateChanged: false }],
    [
      "TLS and a flag",
      {},
      { tls: { issuerRef }, extraArgs: { "pre-vote": true } },
      { kind: "add", templateChanged: true },
    ],
    [
      "a further CA",
      { tls: { issuerRef } },
      { tls: { issuerRef, trustedCAs: [{ pem: CA_B }] } },
      { kind: "reissue", aliases: [], issuerChanged: false, caMayChange: true, templateChanged: false },
    ],
    [
      "a further CA and another issuer, which is one re-issue",
      { tls: { issuerRef } },
      { tls: { issuerRef: { name: "ca-b" }, trustedCAs: [{ configMap: { name: "old-ca" } }] } },
      { kind: "reissue", aliases: ["server", "peer", "client"], issuerChanged: true, caMayChange: true },
    ],
    [
      "another comment in a further CA",
      { tls: { issuerRef, trustedCAs: [{ pem: CA_B }] } },
      { tls: { issuerRef, trustedCAs: [{ pem: `# of old\n${CA_B.replaceAll("\n", "\r\n")}` }] } },
      { kind: "none", changes: [] },
    ],
    [
      "plaintext held while TLS is added",
      {},
      { tls: { issuerRef, client: { alsoPlaintext: true } } },
      { kind: "add", templateChanged: false },
    ],
    [
      "TLS removed where plaintext was held",
      { tls: { issuerRef, client: { alsoPlaintext: true } } },
      {},
      { kind: "remove", templateChanged: false },
    ],
    [
      "plaintext given up",
      { tls: { issuerRef, client: { alsoPlaintext: true } } },
      { tls: { issuerRef } },
      {
        kind: "template",
        aliases: [],
        caMayChange: false,
        templateChanged: true,
        changes: [{ path: "tls.client.alsoPlaintext", old: true, new: false }],
      },
    ],
    ["no client certificates", { tls: { issuerRef } }, { tls: { issuerRef, client: { auth: "none" } } }, TEMPLATE],
    ["oldest TLS version", { tls: { issuerRef } }, { tls: { issuerRef, minVersion: "TLS1.3" } }, TEMPLATE],
    ["cipher suites", { tls: { issuerRef } }, { tls: { issuerRef, cipherSuites: [RSA_SUITE] } }, TEMPLATE],
    [
      "how clients are served, and a token taken away",
      { tls: { issuerRef, rotate: "1" } },
      { tls: { issuerRef, minVersion: "TLS1.3" } },
      TEMPLATE,
    ],
    [
      "a restart",
      { rollout: { restart: "1" } },
      { rollout: { restart: "2" } },
      { ...TEMPLATE, changes: [{ path: "rollout.restart", old: "1", new: "2" }] },
    ],
    [
      "a rotation that restarts",
      { tls: { issuerRef, restartPolicy: "Always" } },
      { tls: { issuerRef, restartPolicy: "Always", rotate: "1" } },
      { kind: "rotate", templateChanged: true, changes: [{ path: "tls.rotate", old: undefined, new: "1" }] },
    ],
    [
      "a re-issue that restarts",
      { tls: { issuerRef, restartPolicy: "Always" } },
      { tls: { ...certificate({ duration: "24h" }).tls, restartPolicy: "Always" } },
      { kind: "reissue", templateChanged: true },
    ],
    [
      "a further CA where re-issues restart, which restarts for its own reasons",
      { tls: { issuerRef, restartPolicy: "Always" } },
      { tls: { issuerRef, restartPolicy: "Always", trustedCAs: [{ pem: CA_B }] } },
      { kind: "reissue", templateChanged: false },
    ],
    [
      "another policy of restarts",
      { tls: { issuerRef } },
      { tls: { issuerRef, restartPolicy: "Always" } },
      { ...TEMPLATE, changes: [{ path: "tls.restartPolicy", old: "IfRequired", new: "Always" }] },
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
      caMayChange: false,
      templateChanged: false,
    });
  });

  test("a token is harmless where there is no cluster yet", () => {
    expect(classify(undefined, spec({ tls: { issuerRef, rotate: "1" } })).kind).toBe("create");
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
      "rotation and a further CA",
      { tls: { issuerRef } },
      { tls: { issuerRef, trustedCAs: [{ pem: CA_B }], rotate: "1" } },
      "etcd:tls.rotate",
      ONE_AT_A_TIME,
    ],
    [
      "rotation and how clients are served",
      { tls: { issuerRef, rotate: "1" } },
      { tls: { issuerRef, rotate: "2", client: { auth: "none" } } },
      "etcd:tls.rotate",
      /^only one TLS .* change etcd:tls\.client\.auth in another/,
    ],
    [
      "another issuer and plaintext held",
      { tls: { issuerRef } },
      { tls: { issuerRef: { name: "ca-b" }, client: { alsoPlaintext: true } } },
      "etcd:tls.client.alsoPlaintext",
      ONE_AT_A_TIME,
    ],
    [
      "other certificates and another TLS version",
      { tls: { issuerRef } },
      { tls: { ...certificate({ duration: "24h" }).tls, minVersion: "TLS1.3" } },
      "etcd:tls.minVersion",
      /^only one TLS .* etcd:tls\.certificates\[server\]\.duration in another/,
    ],
    [
      "a further CA and cipher suites",
      { tls: { issuerRef } },
      { tls: { issuerRef, trustedCAs: [{ pem: CA_B }], cipherSuites: [RSA_SUITE] } },
      "etcd:tls.cipherSuites",
      ONE_AT_A_TIME,
    ],
    [
      "from TLS 1.2 alone to TLS 1.3 alone",
      { extraArgs: { "tls-max-version": "TLS1.2" }, tls: { issuerRef } },
      { tls: { issuerRef, minVersion: "TLS1.3" } },
      "etcd:tls",
      /no TLS version and cipher suite in common/,
    ],
    [
      "from some suites of TLS 1.2 alone to others",
      { extraArgs: { "tls-max-version": "TLS1.2" }, tls: { issuerRef, cipherSuites: [RSA_SUITE] } },
      {
        extraArgs: { "tls-max-version": "TLS1.2" },
        tls: {
          issuerRef,
          cipherSuites: [ECDSA_SUITE],
          certificates: ["server", "peer"].map((alias) => ({ alias, privateKey: { algorithm: "ECDSA" } })),
        },
      },
      "etcd:tls",
      /Go there in two updates/,
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

  test.each<[string, Raw, Raw]>([
    [
      "other suites, with TLS 1.3 in common",
      { tls: { issuerRef, cipherSuites: [RSA_SUITE] } },
      { tls: { issuerRef, cipherSuites: [ECDSA_SUITE] } },
    ],
    [
      "a suite more, with TLS 1.2 alone",
      { extraArgs: { "tls-max-version": "TLS1.2" }, tls: { issuerRef, cipherSuites: [RSA_SUITE] } },
      { extraArgs: { "tls-max-version": "TLS1.2" }, tls: { issuerRef, cipherSuites: [RSA_SUITE, ECDSA_SUITE] } },
    ],
    [
      "TLS 1.2 alone",
      { tls: { issuerRef } },
      { extraArgs: { "tls-max-version": "TLS1.2" }, tls: { issuerRef, minVersion: "TLS1.2" } },
    ],
  ])("members understand each other: %s", (_, old, next) => {
    expect(refusals(old, next)).toEqual([]);
    expect(refusals(next, old)).toEqual([]);
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

  test("takes the defaults for TLS settings that an older record lacks", () => {
    const next = spec({ tls: { issuerRef } });
    const { issuerRef: ref, certificates } = next.tls!;
    const older = { ...next, tls: { issuerRef: ref, certificates } } as EtcdSpec;
    expect(diffSpecs(older, next)).toEqual([]);
    expect(diffSpecs(older, spec({ tls: { issuerRef, client: { auth: "none" } } }))).toEqual([
      { path: "tls.client.auth", old: "required", new: "none" },
    ]);
  });

  test("leaves out what follows from other fields", () => {
    const always = (rotate?: string) =>
      spec({ tls: { issuerRef, restartPolicy: "Always", ...(rotate && { rotate }) } });
    expect(diffSpecs(always("1"), always("2"))).toEqual([{ path: "tls.rotate", old: "1", new: "2" }]);
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
