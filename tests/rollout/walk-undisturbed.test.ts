import fc from "fast-check";
import type { EtcdSpec } from "../../config";
import { durations, plainSpec, Scenario, tlsSpec } from "./world";
import { Authority } from "./world/pki";

// Thousands of walks fit into seconds that way.
jest.mock("../../manifests", () =>
  require("./world/memoized").memoized(jest.requireActual("../../manifests"), ["render", "trust", "normalize"]),
);
jest.mock("../../rollout/x509", () =>
  require("./world/memoized").memoized(jest.requireActual("../../rollout/x509"), ["certificatesOf", "chainsTo"]),
);

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

  test.each([
    ["create, add, remove, add", [plain, tls, plain, tls]],
    ["create with TLS, another issuer, back, rotate", [tls, otherIssuer, tls, rotated]],
    ["other flags, then TLS", [plain, otherFlags, tls]],
    ["an issuer for one certificate, and no more", [tls, oneOfItsOwn, tls]],
    ["a further CA, and no more", [tls, furtherCa, tls]],
  ])("%s: what is done is what the preview said", async (_, specs) => {
    await fc.assert(
      fc.asyncProperty(durations, (shares) => walkThrough(specs, shares)),
      { numRuns },
    );
  });
});
