import { parseSpec } from "../../config";
import { CA_A, CA_B } from "../manifests/pem";
import { problemsOf } from "./problems-of";

const issuerRef = { name: "ca" };
const certificate = (fields: object) => ({ tls: { issuerRef, certificates: [{ alias: "server", ...fields }] } });

const tls = (fields: object) => ({ tls: { issuerRef, ...fields } });
const SUITE = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
const ECDSA_SUITE = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

describe("refusals", () => {
  test.each<[string, Record<string, unknown>, string, RegExp]>([
    ["unknown key", { replica: 3 }, "etcd:replica", /Did you mean `replicas`/],
    [
      "unknown key, another case",
      { tls: { issuerref: {}, issuerRef } },
      "etcd:tls.issuerref",
      /Did you mean `issuerRef`/,
    ],
    ["unknown key in a list", certificate({ dnsName: "x" }), "etcd:tls.certificates[0].dnsName", /`dnsNames`/],
    ["unknown key in JSON text", { storage: '{"sise":"1Gi"}' }, "etcd:storage.sise", /`size`/],
    ["unknown key that resembles none", { xyzzy: 1 }, "etcd:xyzzy", /Choose from `name`/],
    ["long name", { name: "a".repeat(53) }, "etcd:name", /52 characters/],
    ["upper-case name", { name: "Etcd" }, "etcd:name", /DNS label/],
    ["name that begins with a digit", { name: "1etcd" }, "etcd:name", /a letter first/],
    ["no members", { replicas: 0 }, "etcd:replicas", /1 or more/],
    ["negative members", { replicas: "-3" }, "etcd:replicas", /1 or more/],
    ["too many members", { replicas: 9 }, "etcd:replicas", /7 at most/],
    ["half a member", { replicas: 1.5 }, "etcd:replicas", /whole number/],
    ["version too old", { version: "3.5.10" }, "etcd:version", /3\.5\.11 or later/],
    ["version with a v", { version: "v3.7.3" }, "etcd:version", /without a leading v/],
    ["image with a blank", { image: "etcd :v1" }, "etcd:image", /image reference/],
    ["workload", { workload: "statefulset" }, "etcd:workload.kind", /Did you mean `StatefulSet`/],
    [
      "placement of a StatefulSet",
      { workload: { podPlacementPolicy: "x" } },
      "etcd:workload.podPlacementPolicy",
      /no meaning/,
    ],
    ["quantity", { storage: { size: "8GB" } }, "etcd:storage.size", /quantity/],
    ["no storage", { storage: { size: "0" } }, "etcd:storage.size", /more than nothing/],
    [
      "limit below the request",
      { resources: { requests: { cpu: "1" }, limits: { cpu: "500m" } } },
      "etcd:resources.limits.cpu",
      /less than the request/,
    ],
    ["domain", { clusterDomain: "cluster.local." }, "etcd:clusterDomain", /DNS name/],
    [
      "names that grow too long",
      { namespace: "n".repeat(60), name: "a".repeat(52), clusterDomain: "long.".repeat(15).concat("local") },
      "etcd:clusterDomain",
      /253 are allowed/,
    ],
    ["made namespace", { namespace: "default", createNamespace: true }, "etcd:createNamespace", /must be false/],
    ["flag with dashes", { extraArgs: { "--max-txn-ops": "1" } }, "etcd:extraArgs.--max-txn-ops", /leading dashes/],
    [
      "variable of etcd",
      { extraEnv: [{ name: "ETCD_NAME", value: "x" }] },
      "etcd:extraEnv[0].name",
      /flag and its variable/,
    ],
    ["variable of ours", { extraEnv: [{ name: "POD_NAME", value: "x" }] }, "etcd:extraEnv[0].name", /product itself/],
    [
      "variable twice",
      {
        extraEnv: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
      "etcd:extraEnv[1].name",
      /listed once/,
    ],
    ["no issuer's name", { tls: { issuerRef: {} } }, "etcd:tls.issuerRef.name", /is required/],
    [
      "issuer's kind",
      { tls: { issuerRef: { name: "ca", kind: "CA" } } },
      "etcd:tls.issuerRef.kind",
      /Issuer or ClusterIssuer/,
    ],
    [
      "issuer's kind of one certificate",
      certificate({ issuerRef: { name: "ca", kind: "issuer" } }),
      "etcd:tls.certificates[0].issuerRef.kind",
      /Issuer or ClusterIssuer/,
    ],
    ["days", certificate({ duration: "90d" }), "etcd:tls.certificates[0].duration", /Write days as hours/],
    ["short duration", certificate({ duration: "59m" }), "etcd:tls.certificates[0].duration", /1h or more/],
    ["short renewal", certificate({ renewBefore: "4m" }), "etcd:tls.certificates[0].renewBefore", /5m or more/],
    [
      "late renewal",
      certificate({ duration: "2h", renewBefore: "2h" }),
      "etcd:tls.certificates[0].renewBefore",
      /less than the duration, which is 2h/,
    ],
    [
      "renewal against the default",
      certificate({ renewBefore: "2160h" }),
      "etcd:tls.certificates[0].renewBefore",
      /which is 2160h/,
    ],
    ["DNS name", certificate({ dnsNames: ["a b"] }), "etcd:tls.certificates[0].dnsNames[0]", /DNS name/],
    ["inner wildcard", certificate({ dnsNames: ["a.*.org"] }), "etcd:tls.certificates[0].dnsNames[0]", /first label/],
    ["IP", certificate({ ipAddresses: ["10.0.0.256"] }), "etcd:tls.certificates[0].ipAddresses[0]", /IP address/],
    ["URI", certificate({ uris: ["example.org"] }), "etcd:tls.certificates[0].uris[0]", /absolute URI/],
    ["e-mail", certificate({ emailAddresses: ["me"] }), "etcd:tls.certificates[0].emailAddresses[0]", /e-mail/],
    ["usage", certificate({ usages: ["serverAuth"] }), "etcd:tls.certificates[0].usages[0]", /`server auth`/],
    [
      "RSA size",
      certificate({ privateKey: { size: 1024 } }),
      "etcd:tls.certificates[0].privateKey.size",
      /2048 and 8192/,
    ],
    [
      "ECDSA size",
      certificate({ privateKey: { algorithm: "ECDSA", size: 2048 } }),
      "etcd:tls.certificates[0].privateKey.size",
      /256, 384 or 521/,
    ],
    [
      "Ed25519 in PKCS1",
      certificate({ privateKey: { algorithm: "Ed25519", encoding: "PKCS1" } }),
      "etcd:tls.certificates[0].privateKey.encoding",
      /PKCS8/,
    ],
    [
      "alias twice",
      { tls: { issuerRef, certificates: [{ alias: "peer" }, { alias: "peer", secretName: "x" }] } },
      "etcd:tls.certificates[1].alias",
      /tls\.certificates\[0\] already/,
    ],
    [
      "one Secret for two listed",
      {
        tls: {
          issuerRef,
          certificates: [
            { alias: "peer", secretName: "x" },
            { alias: "server", secretName: "x" },
          ],
        },
      },
      "etcd:tls.certificates[1].secretName",
      /one certificate only/,
    ],
    [
      "Secret of one not listed",
      certificate({ secretName: "etcd-peer-cert" }),
      "etcd:tls.certificates[0].secretName",
      /peer certificate/,
    ],
    ["client auth", tls({ client: { auth: "requiered" } }), "etcd:tls.client.auth", /Did you mean `required`/],
    [
      "plaintext as a word",
      tls({ client: { alsoPlaintext: "yes" } }),
      "etcd:tls.client.alsoPlaintext",
      /true or false/,
    ],
    ["unknown key of the client", tls({ client: { plaintext: true } }), "etcd:tls.client.plaintext", /alsoPlaintext/],
    ["TLS version", tls({ minVersion: "1.3" }), "etcd:tls.minVersion", /TLS1\.2, TLS1\.3/],
    ["TLS version that etcd lacks", tls({ minVersion: "TLS1.1" }), "etcd:tls.minVersion", /Did you mean `TLS1/],
    [
      "suite in OpenSSL's words",
      tls({ cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256"] }),
      "etcd:tls.cipherSuites[0]",
      /Near it are `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`, `/,
    ],
    [
      "suite with a typing error",
      tls({ cipherSuites: [SUITE, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA38"] }),
      "etcd:tls.cipherSuites[1]",
      /Near it are `TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384`, `/,
    ],
    ["insecure suite", tls({ cipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] }), "etcd:tls.cipherSuites[0]", /is insecure/],
    [
      "suite of TLS 1.3",
      tls({ cipherSuites: ["TLS_AES_128_GCM_SHA256"] }),
      "etcd:tls.cipherSuites[0]",
      /cannot be chosen\. Leave it out/,
    ],
    [
      "suites with TLS 1.3 alone",
      tls({ cipherSuites: [SUITE], minVersion: "TLS1.3" }),
      "etcd:tls.cipherSuites",
      /no meaning with minVersion TLS1\.3/,
    ],
    [
      "suites without the one of HTTP/2",
      tls({ cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] }),
      "etcd:tls.cipherSuites",
      /HTTP\/2 demands: TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256/,
    ],
    [
      "newest TLS version below the oldest",
      { ...tls({ minVersion: "TLS1.3" }), extraArgs: { "tls-max-version": "TLS1.2" } },
      "etcd:extraArgs.tls-max-version",
      /older than etcd:tls\.minVersion/,
    ],
    [
      "suites of RSA alone with TLS 1.2 alone, and a key of ECDSA",
      {
        ...tls({ cipherSuites: [SUITE], certificates: [{ alias: "peer", privateKey: { algorithm: "ECDSA" } }] }),
        extraArgs: { "tls-max-version": "TLS1.2" },
      },
      "etcd:tls.cipherSuites",
      /go with RSA keys alone .* the peer certificate has a key of ECDSA.*certificates\[peer\]\.privateKey\.algorithm to RSA/,
    ],
    [
      "suites of ECDSA alone with TLS 1.2 alone, and a key of RSA",
      {
        ...tls({
          cipherSuites: [ECDSA_SUITE],
          certificates: [{ alias: "peer", privateKey: { algorithm: "Ed25519" } }],
        }),
        extraArgs: { "tls-max-version": "TLS1.2" },
      },
      "etcd:tls.cipherSuites",
      /go with ECDSA or Ed25519 keys alone .* the server certificate has a key of RSA/,
    ],
    [
      "the same with a CA of the cluster's own",
      {
        tls: { ca: {}, cipherSuites: [SUITE], certificates: [{ alias: "server", privateKey: { algorithm: "ECDSA" } }] },
        extraArgs: { "tls-max-version": "TLS1.2" },
      },
      "etcd:tls.cipherSuites",
      /go with RSA keys alone .* the server certificate has a key of ECDSA/,
    ],
    ["restart policy", tls({ restartPolicy: "always" }), "etcd:tls.restartPolicy", /Did you mean `Always`/],
    ["no step at all", { rollout: { stepTimeout: "0s" } }, "etcd:rollout.stepTimeout", /must be 1s or more/],
    ["no issue at all", { rollout: { issueTimeout: "10ms" } }, "etcd:rollout.issueTimeout", /must be 1s or more/],
    ["a wait without unit", { rollout: { lockTimeout: "10" } }, "etcd:rollout.lockTimeout", /duration/],
    ["empty restart", { rollout: { restart: "" } }, "etcd:rollout.restart", /must not be empty/],
    ["further CA of nowhere", tls({ trustedCAs: [{}] }), "etcd:tls.trustedCAs[0]", /exactly one of pem/],
    [
      "further CA of two sources",
      tls({ trustedCAs: [{ pem: CA_A }, { pem: CA_A, secret: { name: "ca" } }] }),
      "etcd:tls.trustedCAs[1]",
      /exactly one of pem, configMap and secret\. Make an entry of each/,
    ],
    ["further CA as text", tls({ trustedCAs: [CA_A] }), "etcd:tls.trustedCAs[0]", /map of keys/],
    ["no certificate", tls({ trustedCAs: [{ pem: "ca.crt" }] }), "etcd:tls.trustedCAs[0].pem", /certificate in PEM/],
    [
      "request for a certificate",
      tls({ trustedCAs: [{ pem: CA_A.replaceAll("CERTIFICATE", "CERTIFICATE REQUEST") }] }),
      "etcd:tls.trustedCAs[0].pem",
      /certificate in PEM/,
    ],
    [
      "certificate with a letter wrong",
      tls({ trustedCAs: [{ pem: CA_A.replaceAll("MIIB", "MIIC") }] }),
      "etcd:tls.trustedCAs[0].pem",
      /that can be read/,
    ],
    [
      "one good certificate and one without its end",
      tls({ trustedCAs: [{ pem: `${CA_A}${CA_B.slice(0, 200)}` }] }),
      "etcd:tls.trustedCAs[0].pem",
      /that can be read/,
    ],
    ["object without a name", tls({ trustedCAs: [{ secret: {} }] }), "etcd:tls.trustedCAs[0].secret.name", /required/],
    [
      "object's name",
      tls({ trustedCAs: [{ configMap: { name: "Old_CA" } }] }),
      "etcd:tls.trustedCAs[0].configMap.name",
      /DNS subdomain/,
    ],
    [
      "object's key",
      tls({ trustedCAs: [{ configMap: { name: "ca", key: "../ca" } }] }),
      "etcd:tls.trustedCAs[0].configMap.key",
      /key of a ConfigMap/,
    ],
  ])("%s", (_, raw, path, text) => {
    const problem = problemsOf(raw).find((each) => each.path === path);
    expect(problem && `${problem.rule}. ${problem.mend}`).toMatch(text);
  });

  describe("a private key that is written into the config", () => {
    const KEY = "-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----\n";

    test("is refused beside the certificate, in one problem", () => {
      expect(problemsOf(tls({ trustedCAs: [{ pem: CA_A + KEY }] }))).toEqual([
        { path: "etcd:tls.trustedCAs[0].pem", rule: "must not hold a private key", mend: expect.any(String) },
      ]);
    });

    test.each<[string, Record<string, unknown>]>([
      ["alone", tls({ trustedCAs: [{ pem: KEY }] })],
      ["under a wrong key", tls({ trustedCAs: [{ ca: KEY }] })],
      ["as a list's item", tls({ trustedCAs: [KEY] })],
      ["deep in a wrong section", { tlss: { ca: { key: KEY } } }],
      ["as JSON text", { tls: JSON.stringify({ issuerRef, trustedCAs: [{ pem: KEY }] }) }],
    ])("is never shown: %s", (_, raw) => {
      expect(problemsOf(raw)).not.toEqual([]);
      expect(JSON.stringify(problemsOf(raw))).not.toContain("c2VjcmV0");
      expect(() => parseSpec(raw)).toThrow(expect.objectContaining({ message: expect.not.stringContaining("c2Vj") }));
    });
  });

  test("a long value is cut short", () => {
    expect(() => parseSpec(tls({ trustedCAs: [{ pem: CA_A.replaceAll("MIIB", "MIIC") }] }))).toThrow(/^.{100,400}$/);
  });

  test.each([
    "name",
    "data-dir",
    "wal-dir",
    "listen-peer-urls",
    "listen-metrics-urls",
    "advertise-client-urls",
    "initial-advertise-peer-urls",
    "initial-cluster",
    "initial-cluster-state",
    "initial-cluster-token",
    "discovery-srv",
    "cert-file",
    "peer-cert-file",
    "client-cert-file",
    "peer-client-key-file",
    "trusted-ca-file",
    "peer-trusted-ca-file",
    "client-cert-auth",
    "peer-client-cert-auth",
    "auto-tls",
    "peer-auto-tls",
    "force-new-cluster",
    "config-file",
    "tls-min-version",
    "cipher-suites",
    "version",
  ])("the flag %s is the product's own", (flag) => {
    expect(problemsOf({ extraArgs: { [flag]: "x" } })).toEqual([
      { path: `etcd:extraArgs.${flag}`, value: "x", rule: "is set by the product itself", mend: expect.any(String) },
    ]);
  });

  test("flags that have keys of their own name them", () => {
    const mend = (flag: string) => problemsOf({ extraArgs: { [flag]: "x" } })[0]?.mend;
    expect(mend("tls-min-version")).toBe("Use etcd:tls.minVersion");
    expect(mend("cipher-suites")).toBe("Use etcd:tls.cipherSuites");
  });

  test.each(["quota-backend-bytes", "tls-max-version", "initial-election-tick-advance", "client-crl-file", "metrics"])(
    "the flag %s is the user's to set",
    (flag) => {
      expect(problemsOf({ extraArgs: { [flag]: "x" } })).toEqual([]);
    },
  );

  test.each([{}, { certificates: [{ alias: "server" }] }, { rotate: "1" }])("TLS without an issuer: %j", (tls) => {
    const rules = problemsOf({ tls }).map(({ path, rule }) => ({ path, rule }));
    expect(rules).toEqual([{ path: "etcd:tls.issuerRef", rule: "tls.issuerRef is required for Etcd ReconfigureTLS" }]);
  });

  test("an external issuer may be of any kind", () => {
    const external = { apiGroup: "awspca.cert-manager.io", kind: "AWSPCAClusterIssuer", name: "pca" };
    expect(parseSpec({ tls: { issuerRef: external } }).spec.tls?.issuerRef).toEqual(external);
  });

  test("all problems are listed at once, one in a line", () => {
    const raw = { nmae: "x", replicas: 0, storage: { size: "8GB" } };
    expect(() => parseSpec(raw)).toThrowErrorMatchingSnapshot();
  });
});
