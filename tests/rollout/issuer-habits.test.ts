import type { EtcdSpec } from "../../config";
import { FatalError } from "../../rollout/wait";
import { plainSpec, Scenario, tlsSpec } from "./world";
import { authority, type LeafWish } from "./world/cert-manager";
import type { Habits } from "./world/habits";

const issuerRef = { name: "ca-a", kind: "Issuer" };
const other = { name: "ca-b", kind: "Issuer" };

/** A world whose two issuers are no CA issuers, and have such habits. */
function withHabits(spec: EtcdSpec, habits: Habits): Scenario {
  const scenario = new Scenario(spec);
  for (const name of ["ca-a", "ca-b"]) scenario.world.certManager.addIssuer("Issuer", name, { type: "vault", habits });
  return scenario;
}

/** One update, and then three that find nothing to do. */
async function converges(scenario: Scenario, spec: EtcdSpec): Promise<void> {
  await scenario.once(spec);
  scenario.checkReached(spec);
  for (let look = 0; look < 3; look++) {
    scenario.world.timeline.advance(30_000);
    const again = await scenario.once(spec);
    expect([...again.planned, ...again.recorded]).toEqual([]);
  }
  scenario.verify();
}

const lifetimes = [undefined, "72h", "8760h"];

describe.each<[string, Habits]>([
  ["cuts lifetimes to a day", { atMostHours: 24 }],
  ["cuts lifetimes to an hour, so that a named renewBefore is longer", { atMostHours: 1 }],
  ["raises lifetimes to two years", { atLeastHours: 17_520 }],
  ["dates certificates back by a day", { datesBackHours: 24 }],
  ["takes half a minute", { slowMs: 30_000 }],
  ["answers with a chain", { gives: "a chain" }],
  ["answers with a bundle", { gives: "a bundle" }],
  ["names no CA", { gives: "no CA" }],
])("an issuer that %s", (_, habits) => {
  const trustedCAs =
    habits.gives === "no CA" ? ["ca-a", "ca-b"].map((name) => ({ pem: authority(name).certificate })) : [];
  const withIssuer = (ref: object, more: object = {}) => tlsSpec(3, { tls: { issuerRef: ref, trustedCAs, ...more } });

  const changesLifetimes = habits.atMostHours ?? habits.atLeastHours ?? habits.datesBackHours;
  if (changesLifetimes)
    test.each(lifetimes)("asked for %s", async (duration) => {
      const certificates = ["server", "peer", "client"].map((alias) => ({
        alias,
        ...(duration && { duration, renewBefore: "24h" }),
      }));
      const spec = withIssuer(issuerRef, { certificates });
      const scenario = withHabits(spec, habits);
      await converges(scenario, spec);
      // The duration is dropped: cert-manager does not act on that.
      await converges(scenario, withIssuer(issuerRef));
    });

  test("TLS is added, the issuer changed, the certificates rotated", async () => {
    const scenario = withHabits(plainSpec(), habits);
    await converges(scenario, plainSpec());
    await converges(scenario, withIssuer(issuerRef));
    await converges(scenario, withIssuer(other));
    await converges(scenario, withIssuer(other, { rotate: "1" }));
  });
});

describe("an issuer that is strict", () => {
  const spec = tlsSpec();
  const server = spec.tls!.certificates[0]!;

  test("is asked for what it will be asked for, under the same names and for the same time", async () => {
    const denies = ({ commonName, dnsNames = [], duration = "2160h" }: LeafWish) => {
      const allowed = [...server.dnsNames, "db-pods", "db", "root"];
      const refused = [commonName ?? "", ...dnsNames].find(
        (name) => name !== "" && !allowed.includes(name) && !name.includes("db-pods"),
      );
      if (refused) return `${refused} is not allowed`;
      return Number.parseInt(duration, 10) < 24 ? `${duration} is too short` : undefined;
    };
    await converges(withHabits(spec, { denies }), spec);
  });

  test("and denies: the update says why at once, before anything has changed, and goes on once it is allowed", async () => {
    const plain = plainSpec();
    const habits: Habits = {};
    const scenario = withHabits(plain, habits);
    await scenario.once(plain);
    const { workload } = scenario.world;
    const began = scenario.world.now();
    habits.denies = () => "policy says no";
    const failure = await scenario.once(spec).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(FatalError);
    expect(String(failure)).toMatch(/Certificate data\/db-probe-\w+ could not be issued: policy says no/);
    expect(scenario.world.now() - began).toBeLessThan(20_000);
    expect(scenario.world.workload?.applied).toBe(workload?.applied);
    expect([...scenario.world.certManager.certificates.keys(), ...scenario.world.certManager.secrets.keys()]).toEqual(
      [],
    );
    delete habits.denies;
    await converges(scenario, spec);
  });
});
