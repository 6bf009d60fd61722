import fc from "fast-check";
import { CA_A, CA_B } from "../manifests/pem";

/** Stack configs that are accepted, from the smallest to odd ones. */

const label = (maxLength: number) =>
  fc.stringMatching(/^[a-z][a-z0-9-]{0,50}[a-z0-9]$/).map((text) => text.slice(0, maxLength).replace(/-+$/, "x"));

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const issuerRef = fc.record(
  { name: label(40), kind: fc.constantFrom("Issuer", "ClusterIssuer") },
  { requiredKeys: ["name"] },
);

const certificate = fc.record(
  {
    alias: fc.constantFrom("server", "peer", "client", "metrics-exporter"),
    issuerRef,
    duration: fc.integer({ min: 24, max: 9000 }).map((hours) => `${hours}h`),
    renewBefore: fc.integer({ min: 5, max: 1000 }).map((minutes) => `${minutes}m`),
    dnsNames: fc.array(
      label(20).map((name) => `${name}.Example.org`),
      { maxLength: 3 },
    ),
    ipAddresses: fc.array(fc.oneof(fc.ipV4(), fc.constantFrom("::1", "0:0::1", "fd00::2")), { maxLength: 3 }),
    subject: fc.record({ organizations: fc.array(label(10), { maxLength: 2 }) }, { requiredKeys: [] }),
    privateKey: fc.constantFrom({}, { algorithm: "ECDSA", size: 384 }, { algorithm: "Ed25519" }, { encoding: "PKCS8" }),
    usages: fc.subarray(["server auth", "client auth", "signing"]),
  },
  { requiredKeys: ["alias"] },
);

const trustedCa = fc.oneof(
  fc.constantFrom({ pem: CA_A }, { pem: `# further\n${CA_B}` }),
  label(20).map((name) => ({ configMap: { name } })),
  label(20).map((name) => ({ secret: { name, key: "ca.pem" } })),
);

/** What there is whatever the certificates come from. */
const common = {
  client: fc.record({ auth: fc.constantFrom("required", "none"), alsoPlaintext: fc.boolean() }, { requiredKeys: [] }),
  trustedCAs: fc.uniqueArray(trustedCa, { maxLength: 2 }),
  restartPolicy: fc.constantFrom("IfRequired", "Always"),
  protocol: fc.constantFrom(
    {},
    { minVersion: "TLS1.2" },
    { minVersion: "TLS1.3" },
    { cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] },
    { minVersion: "TLS1.2", cipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"] },
  ),
};

const rotate = fc.constantFrom("1", "2");

const listed = <T extends { alias: string }>(each: fc.Arbitrary<T>) =>
  fc.uniqueArray(each, { selector: ({ alias }) => alias, maxLength: 4 });

const issued = fc.record(
  { issuerRef, certificates: listed(certificate), rotate, ...common },
  { requiredKeys: ["issuerRef", "protocol"] },
);

/** @pulumi/tls counts in hours, and takes one of each part of a subject. */
const ownSubject = fc.record(
  { organizations: fc.array(label(10), { maxLength: 1 }), serialNumber: label(10) },
  { requiredKeys: [] },
);

const ownLeaf = certificate.map(({ issuerRef: _, renewBefore: __, subject, ...wishes }) => ({
  ...wishes,
  ...(subject && { subject: { organizations: (subject.organizations ?? []).slice(0, 1) } }),
}));

const own = fc.record(
  {
    ca: fc.record(
      {
        commonName: label(30).map((name) => `${name} CA of our own`),
        subject: ownSubject,
        privateKey: fc.constantFrom({}, { size: 384 }, { algorithm: "RSA", size: 4096 }, { algorithm: "Ed25519" }),
        duration: fc.integer({ min: 9000, max: 100_000 }).map((hours) => `${hours}h`),
        generation: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant("2")),
      },
      { requiredKeys: [] },
    ),
    certificates: listed(ownLeaf),
    rotate,
    ...common,
  },
  { requiredKeys: ["ca", "protocol"] },
);

const given = fc.record(
  {
    secrets: fc.record(
      { server: label(30), peer: label(30), client: label(30), "metrics-exporter": label(30) },
      { requiredKeys: ["server", "peer", "client"] },
    ),
    ...common,
  },
  { requiredKeys: ["secrets", "protocol"] },
);

/** The client may show the server's certificate, and then has no wishes of its own. */
function shared<T extends { certificates?: { alias: string }[] }>(section: T, asks: boolean) {
  if (!asks) return section;
  const others = (section.certificates ?? []).filter(({ alias }) => alias !== "client");
  return { ...section, certificates: [...others, { alias: "client", sameAs: "server" }] };
}

export const tls = fc
  .oneof(
    fc.tuple(fc.oneof(issued, own), fc.integer({ max: 4, min: 0 })).map(([section, n]) => shared(section, n === 0)),
    given,
  )
  .map(({ protocol, ...section }) => ({ ...section, ...protocol }));

export const rawConfig = fc
  .record({
    name: maybe(label(52)),
    namespace: maybe(label(52)),
    replicas: maybe(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.constantFrom("1", "3", "5", "7"))),
    version: maybe(fc.constantFrom("3.7.0", "3.7.3")),
    image: maybe(fc.constant("localhost/etcd:v3.7.2")),
    workload: maybe(fc.constantFrom("StatefulSet", "PetSet", { kind: "PetSet", podPlacementPolicy: "spread" })),
    storage: maybe(fc.constantFrom({}, { size: "2Gi" }, { class: "" }, { class: "fast" })),
    resources: maybe(fc.constantFrom({}, { limits: { memory: "1Gi" } }, { requests: { cpu: 1 } })),
    extraArgs: maybe(fc.constantFrom({}, { "max-txn-ops": 256 }, { "pre-vote": true, metrics: "extensive" })),
    extraEnv: maybe(
      fc.constantFrom(
        [],
        [{ name: "GOGC", value: 50 }],
        [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ],
      ),
    ),
    tls: maybe(tls),
    rollout: maybe(
      fc.constantFrom({}, { restart: "1" }, { restart: 2, stepTimeout: "9m", issueTimeout: "1h", lockTimeout: "30m" }),
    ),
  })
  .map((raw) => raw as Record<string, unknown>);
