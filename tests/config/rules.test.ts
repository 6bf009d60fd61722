import { ConfigError, type ConfigProblem, parseSpec } from "../../config";
import { CA_A, CA_B } from "../manifests/pem";

function problemsOf(raw: Record<string, unknown>): ConfigProblem[] {
  try {
    parseSpec(raw);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const issuerRef = { name: "ca" };
const certificate = (fields: object) => ({ tls: { issuerRef, certificates: [{ alias: "server", ...fields }] } });

const tls = (fields: object) => ({ tls: { issuerRef, ...fields } });
const SUITE = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";

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
    ["version with a v", { version: "v3.6.16" }, "etcd:version", /without a leading v/],
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

  describe("where certificates come from", () => {
    const ca = (fields: object = {}, more: object = {}) => ({ tls: { ca: fields, ...more } });
    const own = (fields: object) => ca({}, { certificates: [{ alias: "server", ...fields }] });
    const SECRETS = { server: "a", peer: "b", client: "c" };
    const secrets = (fields: object, more: object = {}) => ({ tls: { secrets: { ...SECRETS, ...fields }, ...more } });
    const LEAF = "etcd:tls.certificates[0]";

    test.each<[string, Record<string, unknown>, string, unknown, RegExp]>([
      [
        "two sources",
        { tls: { issuerRef, ca: {} } },
        "etcd:tls",
        ["issuerRef", "ca"],
        /exactly one of issuerRef, ca and secrets: .*\. Keep one of etcd:tls\.issuerRef and etcd:tls\.ca/,
      ],
      [
        "three sources",
        { tls: { issuerRef, ca: {}, secrets: SECRETS } },
        "etcd:tls",
        ["issuerRef", "ca", "secrets"],
        /the CA of another can be kept in etcd:tls\.trustedCAs/,
      ],
      ["no generation", ca({ generation: 0 }), "etcd:tls.ca.generation", 0, /1 or more\. Count up from 1/],
      ["half a generation", ca({ generation: 1.5 }), "etcd:tls.ca.generation", 1.5, /whole number/],
      [
        "a CA's name that is too long",
        ca({ commonName: "x".repeat(65) }),
        "etcd:tls.ca.commonName",
        "x".repeat(65),
        /64/,
      ],
      [
        "a CA named as the administrator",
        ca({ commonName: "root" }),
        "etcd:tls.ca.commonName",
        "root",
        /differ from the client certificate's.*\. Choose another/,
      ],
      ["a CA named as the cluster", ca({ commonName: "etcd" }), "etcd:tls.ca.commonName", "etcd", /the server certif/],
      ["a short CA", ca({ duration: "59m" }), "etcd:tls.ca.duration", "59m", /1h or more/],
      [
        "a CA of half hours",
        ca({ duration: "8760h30m" }),
        "etcd:tls.ca.duration",
        "8760h30m",
        /whole hours with etcd:tls\.ca\. Write hours alone/,
      ],
      [
        "a CA that is renewed from the beginning",
        ca({ renewBefore: "87600h" }),
        "etcd:tls.ca.renewBefore",
        "87600h",
        /less than the duration, which is 87600h\. Choose/,
      ],
      [
        "a CA that ends before the certificates that nobody listed",
        ca({ duration: "100h" }),
        "etcd:tls.ca.duration",
        "100h",
        /not be shorter than that of its certificates, which is 8760h.*\. Lengthen it/,
      ],
      [
        "a CA's key",
        ca({ privateKey: { algorithm: "ECDSA", size: 2048 } }),
        "etcd:tls.ca.privateKey.size",
        2048,
        /256, 384 or 521/,
      ],
      [
        "a CA's key without sizes",
        ca({ privateKey: { algorithm: "Ed25519", size: 256 } }),
        "etcd:tls.ca.privateKey.size",
        256,
        /Ed25519/,
      ],
      [
        "a CA key's default algorithm",
        ca({ privateKey: { size: 2048 } }),
        "etcd:tls.ca.privateKey.size",
        2048,
        /ECDSA/,
      ],
      [
        "two of a CA's subject",
        ca({ subject: { organizations: ["a", "b"] } }),
        "etcd:tls.ca.subject.organizations",
        ["a", "b"],
        /must be one with etcd:tls\.ca.*\. Keep one/,
      ],
      [
        "two of a leaf's subject",
        own({ subject: { countries: ["a", "b"] } }),
        `${LEAF}.subject.countries`,
        ["a", "b"],
        /one/,
      ],
      [
        "an issuer besides a CA",
        own({ issuerRef }),
        `${LEAF}.issuerRef`,
        issuerRef,
        /no meaning with etcd:tls\.ca, which issues everything\. Leave it out/,
      ],
      [
        "what @pulumi/tls cannot write",
        own({ emailAddresses: ["a@example.org"] }),
        `${LEAF}.emailAddresses`,
        ["a@example.org"],
        /cannot be made with etcd:tls\.ca.*\. Leave it out, or use an issuer/,
      ],
      [
        "a policy for keys",
        own({ privateKey: { rotationPolicy: "Never" } }),
        `${LEAF}.privateKey.rotationPolicy`,
        "Never",
        /kept until etcd:tls\.rotate/,
      ],
      ["a leaf of half hours", own({ duration: "90m" }), `${LEAF}.duration`, "90m", /whole hours/],
      ["a leaf's renewal of half hours", own({ renewBefore: "90m" }), `${LEAF}.renewBefore`, "90m", /whole hours/],
      [
        "a leaf's renewal against the default",
        own({ renewBefore: "8760h" }),
        `${LEAF}.renewBefore`,
        "8760h",
        /less than the duration, which is 8760h/,
      ],
      [
        "a leaf that outlives its CA",
        own({ duration: "87601h" }),
        `${LEAF}.duration`,
        "87601h",
        /not be longer than the CA's, which is 87600h\. Shorten it, or lengthen/,
      ],
      [
        "a leaf named as its CA",
        own({ commonName: "etcd CA" }),
        `${LEAF}.commonName`,
        "etcd CA",
        /must differ from the CA's.*\. Choose another/,
      ],
      [
        "a leaf's long name",
        own({ commonName: "x".repeat(65) }),
        `${LEAF}.commonName`,
        "x".repeat(65),
        /1 to 64 bytes/,
      ],
      ["a leaf's empty name", certificate({ commonName: " " }), `${LEAF}.commonName`, " ", /1 to 64 bytes/],
      [
        "the Secret of a leaf that nobody listed",
        own({ secretName: "etcd-peer-own-cert" }),
        `${LEAF}.secretName`,
        "etcd-peer-own-cert",
        /the peer certificate already/,
      ],
      [
        "sameAs of another alias",
        ca({}, { certificates: [{ alias: "peer", sameAs: "server" }] }),
        `${LEAF}.sameAs`,
        "server",
        /the alias client only\. Leave it out/,
      ],
      [
        "sameAs of another certificate",
        ca({}, { certificates: [{ alias: "client", sameAs: "peer" }] }),
        `${LEAF}.sameAs`,
        "peer",
        /server/,
      ],
      [
        "a wish beside sameAs",
        { tls: { issuerRef, certificates: [{ alias: "client", sameAs: "server", duration: "24h" }] } },
        `${LEAF}.duration`,
        "24h",
        /no meaning beside sameAs\. Write it for the server's certificate/,
      ],
      [
        "wishes for given certificates",
        secrets({}, { certificates: [{ alias: "peer" }] }),
        "etcd:tls.certificates",
        undefined,
        /somebody else makes\. Leave it out/,
      ],
      ["rotation of given certificates", secrets({}, { rotate: "1" }), "etcd:tls.rotate", undefined, /somebody else/],
      ["no Secret for the peers", secrets({ peer: undefined }), "etcd:tls.secrets.peer", undefined, /is required/],
      ["a Secret's name", secrets({ peer: "A" }), "etcd:tls.secrets.peer", "A", /DNS subdomain/],
      ["an unknown alias", secrets({ admin: "d" }), "etcd:tls.secrets.admin", "d", /Choose from `server`/],
      [
        "a copy as what is copied",
        secrets({ client: "etcd-peer-copied-cert" }),
        "etcd:tls.secrets.client",
        "etcd-peer-copied-cert",
        /what this program calls its copy\. Name the Secret that is to be copied/,
      ],
    ])("%s", (_, raw, path, value, text) => {
      const found = problemsOf(raw);
      expect(found.map((problem) => problem.path)).toEqual([path]);
      expect(found[0]?.value).toEqual(value);
      expect(`${found[0]?.rule}. ${found[0]?.mend}`).toMatch(text);
    });

    test.each<[string, Record<string, unknown>]>([
      ["a short CA with shorter certificates", ca({ duration: "100h" }, { certificates: lasting("24h") })],
      [
        "a CA named as a certificate whose name is another",
        ca({ commonName: "root" }, { certificates: [{ alias: "client", commonName: "admin" }] }),
      ],
      [
        "a CA named as a client that shows the server's",
        ca({ commonName: "root" }, { certificates: [{ alias: "client", sameAs: "server" }] }),
      ],
      ["lists that are empty", secrets({}, { certificates: [] })],
      ["one Secret for everything", secrets({ server: "a", peer: "a", client: "a" })],
    ])("accepted: %s", (_, raw) => {
      expect(problemsOf(raw)).toEqual([]);
    });

    function lasting(duration: string): object[] {
      return ["server", "peer", "client"].map((alias) => ({ alias, duration }));
    }
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
