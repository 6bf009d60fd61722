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

export const tls = fc
  .record(
    {
      issuerRef,
      certificates: fc.uniqueArray(certificate, { selector: (each) => each.alias, maxLength: 4 }),
      rotate: fc.constantFrom("1", "2"),
      client: fc.record(
        { auth: fc.constantFrom("required", "none"), alsoPlaintext: fc.boolean() },
        { requiredKeys: [] },
      ),
      trustedCAs: fc.uniqueArray(trustedCa, { maxLength: 2 }),
      restartPolicy: fc.constantFrom("IfRequired", "Always"),
      protocol: fc.constantFrom(
        {},
        { minVersion: "TLS1.2" },
        { minVersion: "TLS1.3" },
        { cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] },
        { minVersion: "TLS1.2", cipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"] },
      ),
    },
    { requiredKeys: ["issuerRef", "protocol"] },
  )
  .map(({ protocol, ...section }) => ({ ...section, ...protocol }));

export const rawConfig = fc
  .record({
    name: maybe(label(52)),
    namespace: maybe(label(52)),
    replicas: maybe(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.constantFrom("1", "3", "5", "7"))),
    version: maybe(fc.constantFrom("3.6.8", "3.6.16")),
    image: maybe(fc.constant("localhost/etcd:latest")),
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
