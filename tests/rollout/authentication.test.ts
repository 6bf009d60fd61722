import type { EtcdSpec } from "../../config";
import { previewRollout, previewTrust, Refusal } from "../../rollout";
import type { Ports } from "../../rollout/ports";
import { OWNER, plainSpec, Scenario, tlsSpec } from "./world";
import { override } from "./world/override";

jest.setTimeout(60_000);

const USER = { name: "root", password: "correct-horse-battery" };
const auth = { auth: { secretName: "etcd-root" } };

function secret(user: { name?: string; password?: string }, type = "kubernetes.io/basic-auth") {
  const data = {
    ...(user.name !== undefined && { username: base64(user.name) }),
    ...(user.password !== undefined && { password: base64(user.password) }),
  };
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "etcd-root", namespace: "data" }, type, data };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A cluster that runs, whose authentication was switched on since. */
async function authenticated(spec: EtcdSpec): Promise<Scenario> {
  const scenario = new Scenario(spec);
  await scenario.once(spec);
  scenario.world.etcdUser = USER;
  return scenario;
}

async function refusal(scenario: Scenario, next: EtcdSpec): Promise<string> {
  const error = await scenario.faults
    .run((ports) => previewRollout(ports, { spec: next, owner: OWNER }, scenario.state.spec))
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Refusal);
  return (error as Refusal).message;
}

describe("authentication is on, and", () => {
  test("no user is configured: refused, with the config path and how to make the Secret", async () => {
    const scenario = await authenticated(plainSpec());
    for (const next of [plainSpec(), tlsSpec()]) {
      const message = await refusal(scenario, next);
      expect(message).toMatch(/^etcd:auth\.secretName: is required.*user name is empty/);
      expect(message).toContain("--type=kubernetes.io/basic-auth");
    }
  });

  test("the trust bundle's preview, which comes first, is refused as well", async () => {
    const scenario = await authenticated(plainSpec());
    const preview = scenario.faults.run((ports) => previewTrust(ports, { spec: tlsSpec(), owner: OWNER }));
    await expect(preview).rejects.toThrow(/etcd:auth\.secretName: is required/);
  });

  test("the client certificate is a user: enough while TLS stays, not on the way out of it", async () => {
    const scenario = await authenticated(tlsSpec());
    const stays = { spec: tlsSpec(), owner: OWNER };
    await scenario.faults.run((ports) => previewRollout(ports, stays, scenario.state.spec));
    expect(await refusal(scenario, plainSpec())).toContain("plaintext has none");
  });

  test.each([
    ["does not exist", undefined, "Secret data/etcd-root does not exist"],
    ["is of another type", secret(USER, "Opaque"), "must be of type kubernetes.io/basic-auth"],
    ["has no data", { ...secret({}), data: undefined }, "with username and password"],
    ["has no password", secret({ name: "root" }), "with username and password"],
    [
      "has another password",
      secret({ name: "root", password: "wrong-horse-battery" }),
      "etcd refuses the user in Secret data/etcd-root: etcdserver: authentication failed",
    ],
  ])("the Secret %s: refused, and nothing of it is told", async (_, object, says) => {
    const scenario = await authenticated(plainSpec());
    if (object) scenario.world.secrets.set("etcd-root", object);
    const message = await refusal(scenario, tlsSpec(3, auth));
    expect(message).toContain('etcd:auth.secretName = "etcd-root"');
    expect(message).toContain(says);
    expect(message).not.toContain("horse");
  });

  test("the user may not do what has to be done: refused, with the role that it needs", async () => {
    const scenario = await authenticated(plainSpec());
    scenario.world.secrets.set("etcd-root", secret(USER));
    const authentication = async () => ({ on: true as const, denied: "etcdserver: permission denied" });
    const denying = (ports: Ports): Ports => ({
      ...ports,
      etcd: override(ports.etcd, { authentication }),
    });
    const error = await scenario.faults
      .run((ports) => previewRollout(denying(ports), { spec: tlsSpec(3, auth), owner: OWNER }))
      .catch((caught: unknown) => caught);
    expect((error as Refusal).message).toContain("Grant it the role root (etcdctl user grant-role USER root)");
  });

  test("the user is right: TLS comes and goes", async () => {
    const scenario = await authenticated(plainSpec());
    scenario.world.secrets.set("etcd-root", secret(USER));
    for (const next of [tlsSpec(3, auth), plainSpec(3, auth)]) {
      await scenario.once(next);
      scenario.checkReached(next);
    }
    scenario.verify();
  });
});

test("a user that is configured before authentication is switched on does no harm", async () => {
  const scenario = new Scenario(plainSpec(3, auth));
  scenario.world.secrets.set("etcd-root", secret(USER));
  await scenario.once(plainSpec(3, auth));
  await scenario.once(tlsSpec(3, auth));
  scenario.checkReached(tlsSpec(3, auth));
  scenario.verify();
});

test("naming a user restarts nobody", async () => {
  const scenario = await authenticated(tlsSpec());
  scenario.world.secrets.set("etcd-root", secret(USER));
  const evictions = scenario.invariants.evictions.length;
  await scenario.once(tlsSpec(3, auth));
  expect(scenario.invariants.evictions).toHaveLength(evictions);
});
