import { between, type Raw, refusals } from "./between";

const issuerRef = { name: "ca-a" };
const certificate = (fields: object) => ({ tls: { issuerRef, certificates: [{ alias: "server", ...fields }] } });
const ONE_AT_A_TIME = /^only one TLS reconfiguration operation is allowed at a time\./;

describe("where certificates come from", () => {
  const ALL = ["server", "peer", "client"];
  const secrets = { server: "a", peer: "b", client: "c" };
  const own = (fields: object = {}, more: object = {}) => ({ tls: { ca: fields, ...more } });
  const REISSUE = { kind: "reissue", aliases: ALL, issuerChanged: true, caMayChange: true, templateChanged: false };

  test.each<[string, Raw, Raw, object]>([
    ["a CA of its own is added", {}, own(), { kind: "add", aliases: ALL }],
    ["given Secrets are added", {}, { tls: { secrets } }, { kind: "add", aliases: ALL }],
    ["and removed", { tls: { secrets } }, {}, { kind: "remove", aliases: [] }],
    ["from an issuer to a CA of its own", { tls: { issuerRef } }, own(), REISSUE],
    ["from a CA of its own to an issuer", own(), { tls: { issuerRef } }, REISSUE],
    ["from an issuer to given Secrets", { tls: { issuerRef } }, { tls: { secrets } }, REISSUE],
    ["from given Secrets to an issuer", { tls: { secrets } }, { tls: { issuerRef } }, REISSUE],
    ["from a CA of its own to given Secrets", own(), { tls: { secrets } }, REISSUE],
    ["from given Secrets to a CA of its own", { tls: { secrets } }, own(), REISSUE],
    ["the next generation", own(), own({ generation: 2 }), REISSUE],
    ["another lifetime of the CA", own(), own({ duration: "90000h", renewBefore: "8760h" }), REISSUE],
    ["another key of the CA", own(), own({ privateKey: { size: 384 } }), REISSUE],
    [
      "an earlier renewal of the CA, which is a note for later",
      own(),
      own({ renewBefore: "8761h" }),
      { kind: "reissue", aliases: [] },
    ],
    [
      "another name of one certificate",
      own(),
      own({}, { certificates: [{ alias: "peer", commonName: "peers" }] }),
      { kind: "reissue", aliases: ["peer"], issuerChanged: false, caMayChange: false },
    ],
    ["rotation", own(), own({}, { rotate: "1" }), { kind: "rotate", aliases: ALL, issuerChanged: false }],
    [
      "one Secret for client and server",
      { tls: { issuerRef } },
      { tls: { issuerRef, certificates: [{ alias: "client", sameAs: "server" }] } },
      { kind: "reissue", aliases: ["client"], issuerChanged: false },
    ],
    [
      "another Secret for the peers",
      { tls: { secrets } },
      { tls: { secrets: { ...secrets, peer: "d" } } },
      { ...REISSUE, aliases: ["peer"] },
    ],
    [
      "a Secret for the exporter of metrics",
      { tls: { secrets } },
      { tls: { secrets: { ...secrets, "metrics-exporter": "d" } } },
      { kind: "reissue", aliases: ["metrics-exporter"] },
    ],
    ["the same CA, with its defaults written out", own(), own({ generation: 1, duration: "87600h" }), { kind: "none" }],
    [
      "another generation that restarts",
      own({}, { restartPolicy: "Always" }),
      own({ generation: 2 }, { restartPolicy: "Always" }),
      { kind: "reissue", templateChanged: true },
    ],
  ])("%s", (_, old, next, expected) => {
    expect(between(old, next)).toMatchObject(expected);
  });

  test.each<[string, Raw, Raw, string, RegExp]>([
    [
      "rotation and another generation",
      own(),
      own({ generation: 2 }, { rotate: "1" }),
      "etcd:tls.rotate",
      ONE_AT_A_TIME,
    ],
    ["rotation and another source", { tls: { issuerRef } }, own({}, { rotate: "1" }), "etcd:tls.rotate", ONE_AT_A_TIME],
    ["rotation while it is added", {}, own({}, { rotate: "1" }), "etcd:tls.rotate", /^rotateCertificates requires TLS/],
    [
      "another source and plaintext held",
      own(),
      { tls: { secrets, client: { alsoPlaintext: true } } },
      "etcd:tls.client.alsoPlaintext",
      ONE_AT_A_TIME,
    ],
    [
      "another source in the same Secret",
      certificate({ secretName: "servers" }),
      own({}, { certificates: [{ alias: "server", secretName: "servers" }] }),
      "etcd:tls.certificates[server].secretName",
      /must change with the source .*etcd:tls\.issuerRef before, etcd:tls\.ca now.*Choose another name/,
    ],
    [
      "another source in the Secret of another certificate",
      own(),
      { tls: { issuerRef, certificates: [{ alias: "peer", secretName: "etcd-server-own-cert" }] } },
      "etcd:tls.certificates[peer].secretName",
      /must change with the source .*etcd:tls\.ca before, etcd:tls\.issuerRef now/,
    ],
  ])("refused: %s", (_, old, next, path, text) => {
    const problem = refusals(old, next).find((each) => each.path === path);
    expect(problem && `${problem.rule}. ${problem.mend}`).toMatch(text);
  });

  test("one source may keep its Secrets' names", () => {
    const named = (name: string) => ({
      tls: { issuerRef: { name }, certificates: [{ alias: "peer", secretName: "x" }] },
    });
    expect(refusals(named("ca-a"), named("ca-b"))).toEqual([]);
  });
});
