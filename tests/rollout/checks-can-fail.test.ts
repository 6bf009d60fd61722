import "./world/quick";
import fc from "fast-check";
import { trustBundleName } from "../../config";
import {
  BRIDGE,
  PLAIN,
  renderCertificates,
  renderTrustBundle,
  renderWorkload,
  TLS,
  trustRevision,
} from "../../manifests";
import { Refusal } from "../../rollout";
import * as bundles from "../../rollout/bundle";
import * as certificates from "../../rollout/certificates";
import * as gates from "../../rollout/gate";
import { Journal } from "../../rollout/journal";
import { observe } from "../../rollout/observe";
import * as plans from "../../rollout/plan";
import type { Ports } from "../../rollout/ports";
import * as seeds from "../../rollout/seeds";
import * as serving from "../../rollout/serving";
import * as stages from "../../rollout/stages";
import type { ClusterView } from "../../rollout/view";
import { PassWalker } from "../../rollout/walk";
import { type Change, live, OWNER, plainSpec, Scenario, type Schedule, schedule, tlsSpec } from "./world";

import { authority } from "./world/cert-manager";

// As plain objects, so that one function of them can be taken out.
jest.mock("../../rollout/stages", () => ({ ...jest.requireActual("../../rollout/stages"), __esModule: true }));
jest.mock("../../rollout/gate", () => ({ ...jest.requireActual("../../rollout/gate"), __esModule: true }));
jest.mock("../../rollout/plan", () => ({ ...jest.requireActual("../../rollout/plan"), __esModule: true }));
jest.mock("../../rollout/seeds", () => ({ ...jest.requireActual("../../rollout/seeds"), __esModule: true }));
jest.mock("../../rollout/serving", () => ({ ...jest.requireActual("../../rollout/serving"), __esModule: true }));
jest.mock("../../rollout/certificates", () => ({
  ...jest.requireActual("../../rollout/certificates"),
  __esModule: true,
}));
jest.mock("../../rollout/bundle", () => ({ ...jest.requireActual("../../rollout/bundle"), __esModule: true }));

/** Each promise is broken on purpose once: a check that cannot fail shows nothing. */

const plain = plainSpec(3, { rollout: { stepTimeout: "60s" } });
const tls = tlsSpec(3, { rollout: { stepTimeout: "60s" } });

async function settled(spec = plain): Promise<Scenario> {
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  // Long enough for a few writes.
  scenario.world.timeline.advance(5_000);
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
      plans.planRollout({
        replicas: n,
        target: TLS,
        pods: pods(n),
        templateStage: PLAIN,
        hashOf: String,
        peerUrl: () => "",
      });
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

  test("a leader that was elected without an acknowledged write", async () => {
    const scenario = await settled();
    const { raft } = scenario.world;
    const follower = raft.voters.find((voter) => voter !== raft.leader)!;
    follower.stored = raft.committed - 1;
    raft.moveLeader(follower);
    scenario.invariants.check();
    expect(scenario.invariants.broken.join()).toContain(`${follower.name} leads without an acknowledged write`);
  });

  test("a ConfigMap that is mounted", async () => {
    const scenario = await settled(tls);
    await scenario.faults.run((ports) => ports.kube.delete("v1", "ConfigMap", "data", trustBundleName(tls)));
    expect(scenario.invariants.broken.join()).toContain(
      `ConfigMap ${trustBundleName(tls)} is deleted while db-0, db-1, db-2`,
    );
  });

  test("a leaf of a CA that members don't trust yet", async () => {
    const scenario = await settled(tls);
    const other = tlsSpec(3, { tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } });
    for (const certificate of renderCertificates(other))
      await scenario.faults.run((ports) => ports.kube.apply(certificate));
    scenario.world.timeline.advance(10_000);
    expect(scenario.invariants.broken.join()).toContain("Secret db-peer-cert holds a leaf that db-0 does not trust");
  });

  test("stages that are two steps apart", async () => {
    const scenario = await settled();
    const { world } = scenario;
    world.raft.members[0]!.process!.stage = TLS;
    world.raft.changed();
    scenario.invariants.check();
    expect(scenario.invariants.broken.join()).toContain("db-0 and db-1 are on stages that cannot talk");
  });

  test("pods of several revisions, and one that says nothing of its stage", async () => {
    const scenario = await settled();
    const [pod] = scenario.world.pods;
    Object.assign(pod!, { revision: "another", template: { metadata: { annotations: {} }, spec: {} } });
    scenario.checkReached(plain);
    expect(scenario.invariants.broken.join()).toContain("after success pods are on several revisions");
    expect(scenario.invariants.broken.join()).toContain("after success a pod has no stage");
  });

  test("certificates that are left behind", async () => {
    const scenario = await settled(tls);
    scenario.checkReached(plain);
    expect(scenario.invariants.broken.join()).toContain(
      "after success Certificates or Secrets are left: db-server-cert",
    );
  });

  test("a probe that is left behind", async () => {
    const scenario = await settled(tls);
    const secret = scenario.world.certManager.secrets.get("db-peer-cert")!;
    scenario.world.certManager.secrets.set("db-probe-1", secret);
    scenario.checkReached(tls);
    expect(scenario.invariants.broken.join()).toContain("after success Certificates or Secrets are left: db-probe-1");
  });

  test("a template that another than the engine applied last", async () => {
    const scenario = await settled();
    scenario.world.applyWorkload(renderWorkload({ ...plain, image: "another" }, { stage: PLAIN }, { owner: OWNER }));
    scenario.checkReached(plain);
    expect(scenario.invariants.broken.join()).toContain(
      "after success the workload was not applied as it was rendered",
    );
  });

  test.each<[string, (scenario: Scenario) => unknown]>([
    ["a template", ({ world }) => world.applyWorkload(renderWorkload(tls, { stage: BRIDGE, trustRevision: "x" }))],
    ["a peer URL", ({ world }) => Object.assign(world.raft.members[0]!, { peerUrls: ["http://elsewhere:2380"] })],
    ["a trust bundle", ({ world }) => world.configMaps.set("x", renderTrustBundle(plain, authority("x").certificate))],
    ["a restart", ({ invariants }) => invariants.evicting("db-1")],
  ])("a refusal after %s was changed", async (_, change) => {
    const scenario = await settled();
    scenario.faults.run = async () => {
      change(scenario);
      throw new Refusal([]);
    };
    await expect(scenario.once(plain)).rejects.toThrow(Refusal);
    expect(scenario.invariants.broken.join()).toContain("a refusal changed something");
  });

  test("a plan that is not empty after success", async () => {
    const scenario = await settled();
    scenario.world.raft.members[1]!.peerUrls = ["http://db-1.db-pods.data.svc.cluster.local:2380", "https://x:2380"];
    await scenario.checkQuiet(plain);
    expect(scenario.invariants.broken.join()).toContain(
      "after success there is still a plan: pass 1/1: register the peer URL of db-1: http",
    );
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

describe("the engine with one of its precautions taken out", () => {
  afterEach(() => jest.restoreAllMocks());

  const drawn = (changes: Change[]) => fc.sample(schedule(changes), { numRuns: 60, seed: 1 });

  /** Killed after its first change, its second, and so on; then every pod is replaced. */
  const replaced = (change: Change) =>
    Array.from({ length: 25 }, (_, at): Schedule => {
      const faults = (["kill-after", "pods-replaced"] as const).map((kind) => ({
        kind,
        change: at,
        call: 0,
        choice: 0,
      }));
      return { replicas: 3, change, revert: false, budget: true, durations: [], faults };
    });

  const undisturbed = (change: Change): Schedule => {
    return { replicas: 3, change, revert: false, budget: true, durations: [], faults: [] };
  };

  /** Killed after its first change, its second, and so on; then the old state is asked for. */
  function turnedBack(change: Change): Schedule[] {
    return Array.from({ length: 30 }, (_, at): Schedule => {
      return { ...undisturbed(change), revert: true, faults: [{ kind: "kill-after", change: at, call: 0, choice: 0 }] };
    });
  }

  /** Somebody writes the given Secrets anew after its first change, its second, and so on. */
  function rewritten(change: Change): Schedule[] {
    return Array.from({ length: 10 }, (_, at): Schedule => {
      return { ...undisturbed(change), faults: [{ kind: "secret-renewed", change: at, call: 0, choice: 0 }] };
    });
  }

  /** What breaks in these schedules. */
  async function broken(schedules: Schedule[]): Promise<string> {
    const lines: string[] = [];
    for (const one of schedules) lines.push(...(await live(one)).invariants.broken);
    return lines.join("\n");
  }

  test.each<[string, () => unknown, Schedule[], RegExp]>([
    [
      "no bridge between plain and TLS",
      () => jest.spyOn(stages, "stagesToWalk").mockImplementation((_, target) => [target]),
      drawn(["add", "remove"]),
      /on stages that cannot talk|on a stage that cannot talk/,
    ],
    [
      "no gate",
      () => jest.spyOn(gates, "evaluateGate").mockImplementation(openGate),
      drawn(["template"]),
      /is restarted while|was not reached/,
    ],
    [
      "no registration before the template",
      () => jest.spyOn(plans, "toRegisterFirst").mockReturnValue([]),
      replaced("add"),
      /nothing can be written/,
    ],
    [
      "no widening of the trust before the certificates",
      () => jest.spyOn(bundles, "union").mockImplementation((...parts) => parts.findLast((part) => part) ?? ""),
      drawn(["reissue"]),
      /holds a leaf that .* does not trust|cannot reach/,
    ],
    [
      "no seeds in the Secrets that members are moved to",
      () => jest.spyOn(seeds, "seedSecrets").mockResolvedValue(),
      [undisturbed("issuer to own-ca"), undisturbed("own-ca to secrets")],
      /an update failed although nothing went wrong/,
    ],
    [
      "no look at what the Secrets hold that members are moved to",
      () => jest.spyOn(seeds, "canSeed").mockResolvedValue(true),
      ["issuer to own-ca" as const, "own-ca to secrets" as const].flatMap(turnedBack),
      /holds a leaf that .* does not trust/,
    ],
    [
      "no sweep of seeds",
      () => jest.spyOn(seeds, "sweepSeeds").mockResolvedValue(),
      turnedBack("issuer to own-ca"),
      /Certificates or Secrets are left/,
    ],
    [
      "no wait until new leaves are served",
      () => jest.spyOn(serving, "awaitServing").mockResolvedValue(),
      [undisturbed("own-ca: next generation"), undisturbed("secrets: another CA"), undisturbed("issuer to own-ca")],
      /serves a leaf that clients do not trust/,
    ],
    [
      "no look at the CA of what was copied",
      () => jest.spyOn(certificates, "demandCertificates").mockResolvedValue(),
      ["secrets: others" as const, "secrets: another CA" as const].flatMap(rewritten),
      /cannot reach|was not reached/,
    ],
  ])(
    "%s is caught",
    async (_, takeOut, schedules, promise) => {
      expect(await broken(schedules)).toBe("");
      takeOut();
      expect(await broken(schedules)).toMatch(promise);
    },
    60_000,
  );

  /** Lets everything pass that answers. */
  async function openGate(view: ClusterView): Promise<gates.Verdict> {
    const members = await view.members(await view.pods()).catch(() => []);
    return { open: true, reasons: [], members };
  }
});
