import { PLAIN, renderWorkload, TLS, trustRevision } from "../../manifests";
import { Journal } from "../../rollout/journal";
import { observe } from "../../rollout/observe";
import { planRollout } from "../../rollout/plan";
import type { Ports } from "../../rollout/ports";
import { PassWalker } from "../../rollout/walk";
import { OWNER, plainSpec, Scenario, tlsSpec } from "./world";

/** Each promise is broken on purpose once: a check that cannot fail shows nothing. */

const plain = plainSpec(3, { rollout: { stepTimeout: "60s" } });
const tls = tlsSpec(3, { rollout: { stepTimeout: "60s" } });

async function settled(spec = plain): Promise<Scenario> {
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  expect(scenario.invariants.broken).toEqual([]);
  return scenario;
}

const evict = (scenario: Scenario, ordinal: number) =>
  scenario.faults.run((ports) => ports.kube.evict("data", `db-${ordinal}`, scenario.world.pods[ordinal]!.uid));

const applyStage = (scenario: Scenario, stage: typeof PLAIN, spec = tls, revision = "x") =>
  scenario.faults.run((ports) =>
    ports.kube.apply(renderWorkload(spec, { stage, trustRevision: revision }, { owner: OWNER })),
  );

/** One pass from plain to TLS, by the engine's own walker. */
async function singlePass(scenario: Scenario, register: boolean): Promise<unknown> {
  const ca = scenario.world.certManager.issuers.get("Issuer/ca-a")!.authority.certificate;
  return scenario.faults.run(async (ports) => {
    await scenario.prepareTls(ports, tls, ca);
    const etcd = register ? ports.etcd : { ...bound(ports.etcd), updatePeerUrls: async () => {} };
    const naive: Ports = { ...ports, etcd };
    const observation = await observe(naive, tls);
    const template = { stage: TLS, trustRevision: trustRevision(ca) };
    const pass = { number: 1, label: "pass 1/1", to: TLS, intermediate: false, steps: [] };
    const manifest = renderWorkload(tls, template, { owner: OWNER });
    await new PassWalker(observation.view, pass, manifest, new Journal(naive)).run();
  });
}

function bound(port: Ports["etcd"]): Ports["etcd"] {
  const names = [
    "status",
    "memberList",
    "moveLeader",
    "alarms",
    "linearizableRead",
    "probe",
    "servedCertificate",
  ] as const;
  return Object.fromEntries(names.map((name) => [name, port[name]])) as unknown as Ports["etcd"];
}

describe("a planner without the bridge", () => {
  test("that registers no URLs is stopped by the gate, with a member cut off", async () => {
    const scenario = await settled();
    await expect(singlePass(scenario, false)).rejects.toThrow("waited 60 s for");
    expect(scenario.invariants.broken.join()).toContain("db-1 cannot reach db-2");
  });

  test("that looks at readiness alone is green until the last member, and then has no quorum for good", async () => {
    const scenario = await settled();
    const { world } = scenario;
    const ca = world.certManager.issuers.get("Issuer/ca-a")!.authority.certificate;
    await scenario.faults.run((ports) => scenario.prepareTls(ports, tls, ca));
    await applyStage(scenario, TLS, tls, trustRevision(ca));
    for (const ordinal of [2, 1, 0]) {
      expect(world.pods.map(({ ready }) => ready)).toEqual([true, true, true]);
      await evict(scenario, ordinal);
      world.timeline.advance(30_000);
    }
    world.timeline.advance(60_000);
    expect(world.raft.hasQuorum()).toBe(false);
    expect(scenario.invariants.broken.join()).toContain("a majority of the members runs, but nothing can be written");
  });

  test("that registers URLs leaves members that cannot reach each other", async () => {
    const scenario = await settled();
    await singlePass(scenario, true);
    expect(scenario.invariants.broken).toContainEqual(expect.stringContaining("db-0 cannot reach db-2"));
    expect(scenario.invariants.broken).toContainEqual(expect.stringContaining("on stages that cannot talk"));
  });

  test("is what the planner does for one member only", () => {
    const pods = (n: number) =>
      Array.from({ length: n }, (_, ordinal) => ({
        name: `db-${ordinal}`,
        ordinal,
        stage: PLAIN,
        ready: true,
        voter: true,
      }));
    const plan = (n: number) =>
      planRollout({ replicas: n, target: TLS, pods: pods(n), templateStage: PLAIN, hashOf: String, peerUrl: () => "" });
    expect(plan(1).passes.map(({ to }) => to.peer)).toEqual(["tls"]);
    expect(plan(3).passes.map(({ to }) => to.peer)).toEqual(["bridge", "tls"]);
  });
});

describe("each promise, broken once", () => {
  test("two members at once", async () => {
    const scenario = new Scenario(plain, { budget: false });
    await scenario.until(plain);
    await evict(scenario, 1);
    await evict(scenario, 2);
    expect(scenario.invariants.broken.join()).toContain("db-2 is restarted while db-1, restarted before, is not back");
    expect(scenario.invariants.broken.join()).toContain("db-2 is healthy and is restarted while db-1 is unavailable");
  });

  test("a member that is on the newest revision", async () => {
    const scenario = await settled();
    await evict(scenario, 1);
    expect(scenario.invariants.broken.join()).toContain("db-1 is restarted although it is on the newest revision");
  });

  test("a Secret that is mounted", async () => {
    const scenario = await settled(tls);
    await scenario.faults.run((ports) => ports.kube.delete("v1", "Secret", "data", "db-peer-cert"));
    expect(scenario.invariants.broken.join()).toContain("Secret db-peer-cert is deleted while db-0, db-1, db-2");
  });

  test("a template that is two stages away", async () => {
    const scenario = await settled();
    await applyStage(scenario, TLS);
    expect(scenario.invariants.broken.join()).toContain("the template is on a stage that cannot talk to db-0");
  });

  test("a URL that nobody listens on", async () => {
    const scenario = await settled();
    for (const member of scenario.world.raft.members) member.peerUrls = ["https://elsewhere:2380"];
    scenario.world.raft.changed();
    scenario.world.timeline.advance(60_000);
    expect(scenario.invariants.broken.join()).toContain("db-0 cannot reach db-1");
    expect(scenario.invariants.broken.join()).toContain("a majority of the members runs, but nothing can be written");
  });

  test("volumes that are lost", async () => {
    const scenario = await settled();
    for (const member of scenario.world.raft.members.slice(1)) member.stored = 0;
    scenario.invariants.check();
    expect(scenario.invariants.broken.join()).toContain("an acknowledged write is lost");
  });

  test("an end that is not what was asked for", async () => {
    const scenario = await settled();
    scenario.checkReached(tls);
    const broken = scenario.invariants.broken.join();
    expect(broken).toContain("after success the workload is not what was rendered");
    expect(broken).toContain("after success db-0 is registered under http://");
    expect(broken).toContain("after success db-0 runs another stage");
    expect(() => scenario.verify()).toThrow("after success");
  });

  test("an update that never ends well", async () => {
    const scenario = await settled();
    scenario.world.served.delete("cert-manager.io/v1 Certificate");
    await scenario.until(tls);
    expect(scenario.invariants.broken.join()).toContain("the asked state was not reached: Refusal");
  });
});
