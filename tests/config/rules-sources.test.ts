import { problemsOf } from "./problems-of";

const issuerRef = { name: "ca" };
const certificate = (fields: object) => ({ tls: { issuerRef, certificates: [{ alias: "server", ...fields }] } });

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
    ["a CA key's default algorithm", ca({ privateKey: { size: 2048 } }), "etcd:tls.ca.privateKey.size", 2048, /ECDSA/],
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
    ["a leaf's long name", own({ commonName: "x".repeat(65) }), `${LEAF}.commonName`, "x".repeat(65), /1 to 64 bytes/],
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
