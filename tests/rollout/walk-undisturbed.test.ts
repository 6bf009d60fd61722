import "./world/quick";
import fc from "fast-check";
import type { EtcdSpec } from "../../config";
import { durations, givenSpec, ownCaSpec, plainSpec, Scenario, tlsSpec } from "./world";
import { Authority } from "./world/pki";

const FURTHER = Authority.root("further").certificate;
const numRuns = Number(process.env.ROLLOUT_UNDISTURBED ?? 10);

/** One change after the other on one cluster; each must do what its preview said, in that order. */
async function walkThrough(specs: EtcdSpec[], shares: number[]): Promise<void> {
  const scenario = new Scenario(specs[0]!, { durations: shares });
  for (const spec of specs) {
    const { moves, evictions } = scenario.invariants;
    const before = { moves: moves.length, evictions: evictions.length };
    const { planned, recorded, outcome } = await scenario.once(spec);
    scenario.checkReached(spec);
    expect(recorded).toEqual(planned);
    const restarts = spec.replicas > 1 ? outcome.restarts : [];
    for (const pass of new Set(restarts.map((restart) => restart.pass))) {
      const leaders = restarts.filter((restart) => restart.pass === pass).map(({ wasLeader }) => wasLeader);
      expect(leaders.indexOf(true)).toBe(leaders.length - 1);
    }
    const led = recorded.filter((step) => step.includes("move leadership"));
    const restarted = recorded.filter((step) => step.includes("restart "));
    expect(moves).toHaveLength(before.moves + led.length);
    expect(evictions.slice(before.evictions)).toEqual(restarted.map((step) => step.split(" ").at(-1)));
  }
  scenario.verify();
  // A program that asks for nothing new does nothing.
  const again = await scenario.once(specs.at(-1)!);
  expect([...again.planned, ...again.recorded]).toEqual([]);
}

describe.each([1, 2, 3, 5])("%i members, and nothing interferes", (replicas) => {
  const plain = plainSpec(replicas);
  const tls = tlsSpec(replicas);
  const otherIssuer = tlsSpec(replicas, { tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } });
  const rotated = tlsSpec(replicas, { tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, rotate: "1" } });
  const oneOfItsOwn = tlsSpec(replicas, {
    tls: {
      issuerRef: { name: "ca-a", kind: "Issuer" },
      certificates: [{ alias: "server", issuerRef: { name: "ca-b", kind: "Issuer" } }],
    },
  });
  const furtherCa = tlsSpec(replicas, {
    tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, trustedCAs: [{ pem: FURTHER }] },
  });
  const otherFlags = plainSpec(replicas, { extraArgs: { "snapshot-count": 5000 } });

  const own = ownCaSpec(replicas);
  const nextGeneration = ownCaSpec(replicas, { ca: { generation: 2 } });
  const furtherName = ownCaSpec(replicas, { certificates: [{ alias: "server", dnsNames: ["etcd.example.org"] }] });
  const rotatedOwn = ownCaSpec(replicas, { rotate: "1" });
  const given = givenSpec(replicas);
  const others = givenSpec(replicas, "others");
  const etcd = (version: string) => tlsSpec(replicas, { version });

  test.each([
    ["create, add, remove, add", [plain, tls, plain, tls]],
    ["create with TLS, another issuer, back, rotate", [tls, otherIssuer, tls, rotated]],
    ["other flags, then TLS", [plain, otherFlags, tls]],
    ["an issuer for one certificate, and no more", [tls, oneOfItsOwn, tls]],
    ["a further CA, and no more", [tls, furtherCa, tls]],
    ["a CA of its own is added, and taken away", [plain, own, plain]],
    ["create with a CA of its own, the next generation, back", [own, nextGeneration, own]],
    ["a CA of its own: another name in a certificate, rotation", [own, furtherName, own, rotatedOwn]],
    ["given Secrets are added, and taken away", [plain, given, plain]],
    ["create with given Secrets, others, back", [given, others, given]],
    ["from an issuer to a CA of its own, and back", [tls, own, tls]],
    ["from an issuer to given Secrets, and back", [tls, given, tls]],
    ["from a CA of its own to given Secrets, and back", [own, given, own]],
    [
      "etcd from 3.5 to 3.7 and back, a minor release at a time",
      ["3.5.36", "3.6.17", "3.7.3", "3.6.17", "3.5.36"].map(etcd),
    ],
  ])("%s: what is done is what the preview said", async (_, specs) => {
    await fc.assert(
      fc.asyncProperty(durations, (shares) => walkThrough(specs, shares)),
      { numRuns },
    );
  });
});
