import type { Scheme } from "../writer/config";
import { type Aftermath, inspect, lookAfterwards } from "./aftermath";
import { explainFailures } from "./dropped-writes";
import type { Inspection } from "./etcd-writer";
import { electionsBetween, leaderAt } from "./leadership";
import { type Change, carryOut, type Evidence } from "./operation";
import { planDifference } from "./plan-lines";
import type { Scenario } from "./scenario";
import { notTried, type steps } from "./suite";
import { deletedUnderPods, outages, passes, restarts } from "./timeline";

const OPERATION_TIMEOUT_MS = 12 * 60_000;

/**
 * How many writes of the client without retries a move of leadership may cost: at forty a second, those of a twentieth
 * of a second. See `explainFailures`.
 */
const DROPPED_PER_MOVE = 2;

type Step = ReturnType<typeof steps>;

/** Carries out a change under load, and tests everything that must hold of it and after it. */
export function describeChange(title: string, step: Step, scenario: () => Scenario, change: Change): void {
  describe(title, () => {
    let seen: Evidence | undefined;
    step(
      "is carried out",
      async () => {
        seen = await carryOut(scenario(), change);
      },
      OPERATION_TIMEOUT_MS,
    );
    const evidence = () => carriedOut(seen);
    const single = () => scenario().members.length === 1;

    test("fails no write, and both writers go over to the new scheme", () => {
      const { writers, leaderships, startedAt } = evidence();
      for (const writer of writers) {
        expect(writer.switchedAt).toBeGreaterThan(startedAt);
        // Without retries a single member's restart is bound to be noticed.
        if (single() && writer.name === "go") continue;
        const moves = leaderships.slice(1);
        const { dropped, unexplained } = explainFailures(writer.failures, moves);
        expect({ writer: writer.name, unexplained }).toEqual({ writer: writer.name, unexplained: [] });
        // With retries, none at all.
        const allowed = writer.name === "go" ? moves.length * DROPPED_PER_MOVE : 0;
        expect({ writer: writer.name, ok: dropped.length <= allowed, dropped }).toMatchObject({ ok: true });
      }
    });

    test("loses no acknowledged write", () => {
      expect(evidence().lost).toEqual([]);
      for (const writer of evidence().writers) expect(writer.acknowledged).toBeGreaterThan(100);
    });

    test("never has two members down at once", () => {
      expect(evidence().gap).toBeUndefined();
      const names = scenario().members.map((member) => member.name);
      expect(outages(evidence().pods, names)).toEqual([]);
    });

    test("restarts every member once a pass, as it says itself", () => {
      expectPasses(scenario(), evidence());
    });

    test("changes the leader once a pass at most, and restarts the old leader last", () => {
      if (!single()) expectLeaderLast(evidence());
    });

    test("records the steps that its preview printed", () => {
      const leader = leaderAt(evidence().leaderships, evidence().startedAt) ?? evidence().leaderships[0]?.leader;
      const changed = evidence().predictedLeader !== undefined && evidence().predictedLeader !== leader;
      expect(evidence().planned).not.toEqual([]);
      expect(planDifference(evidence().planned, evidence().lastOperation.steps, changed)).toBeUndefined();
    });

    test("deletes no Secret that a pod mounts", () => {
      expect(deletedUnderPods(evidence().deletedSecrets, evidence().pods)).toEqual([]);
      if (change.to === "http") expect(evidence().deletedSecrets.length).toBeGreaterThanOrEqual(3);
    });

    expectSettled(
      () => scenario(),
      change.to,
      () => evidence().aftermath,
      () => evidence().inspection,
    );
  });
}

/** Brings up a cluster where there was none, and tests what must hold after it. */
export function describeCreation(title: string, step: Step, scenario: () => Scenario, scheme: Scheme): void {
  describe(title, () => {
    let aftermath: Aftermath | undefined;
    let inspection: Inspection | undefined;
    step(
      "is carried out",
      async () => {
        await scenario().stack.preview();
        await scenario().stack.up();
        aftermath = await lookAfterwards(scenario());
        inspection = await inspect(scenario(), scenario().folder, "");
      },
      OPERATION_TIMEOUT_MS,
    );
    expectSettled(
      scenario,
      scheme,
      () => carriedOut(aftermath),
      () => carriedOut(inspection),
    );
  });
}

/** Says plainly why a test has nothing to look at. */
function carriedOut<T>(seen: T | undefined): T {
  if (seen === undefined) throw notTried("the operation was not carried out");
  return seen;
}

function expectSettled(
  scenario: () => Scenario,
  scheme: Scheme,
  aftermath: () => Aftermath,
  inspection: () => Inspection,
): void {
  test("leaves nothing to do: preview is empty, and a further update restarts nothing", () => {
    expect(aftermath().previewTrouble).toBeUndefined();
    expect(aftermath().updateTrouble).toBeUndefined();
    expect(aftermath().uids.after).toEqual(aftermath().uids.before);
    expect(aftermath().uids.before).toHaveLength(scenario().members.length);
  });

  test("has all members on one revision, registered and serving as asked", () => {
    const { revisions, updateRevision } = aftermath();
    expect(new Set(revisions)).toEqual(new Set([updateRevision]));
    const hosts = scenario().members.map(({ name, address }) => ({ name, host: address.replace(/:2379$/, "") }));
    const members = [...inspection().members].sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(members.map(({ name, peerUrls, clientUrls }) => ({ name, peerUrls, clientUrls }))).toEqual(
      hosts.map(({ name, host }) => ({
        name,
        peerUrls: [`${scheme}://${host}:2380`],
        clientUrls: [`${scheme}://${host}:2379`],
      })),
    );
  });

  test("lets in who should get in, and nobody else", () => {
    const refused = expect.stringMatching(/^refused: /);
    const expected = scenario().members.map(({ name }) =>
      scheme === "https"
        ? { member: name, plaintext: refused, anonymousTls: refused, tls: "accepted" }
        : { member: name, plaintext: "accepted", anonymousTls: refused, tls: refused },
    );
    expect(inspection().admission).toEqual(expected);
  });

  test("keeps keys, tokens and the kubeconfig out of the state", () => {
    const { findings, sought } = aftermath();
    expect(findings).toEqual([]);
    // Looking for nothing would find nothing.
    if (/^\s*"?(client-key-data|token)"?:/m.test(scenario().kube.kubeconfigText())) {
      expect(sought).toContainEqual(expect.stringMatching(/^kubeconfig (client-key-data|token)$/));
    }
    if (scheme === "https") {
      expect(sought).toContainEqual(expect.stringMatching(/etcd-server-cert tls\.key$/));
    }
  });

  test(scheme === "https" ? "has its certificates" : "has no certificates, and no Secrets of them", () => {
    const certificates = ["client", "peer", "server"].flatMap((alias) => [
      `Certificate etcd-${alias}-cert`,
      `Secret etcd-${alias}-cert`,
    ]);
    const expected = scheme === "https" ? [...certificates, "ConfigMap etcd-trust-bundle"] : [];
    expect([...aftermath().tlsObjects].sort()).toEqual(expected.sort());
  });
}

function expectPasses(scenario: Scenario, { pods, lastOperation }: Evidence): void {
  const observed = restarts(pods);
  expect(observed.map((restart) => restart.member)).toEqual(lastOperation.restarts.map((restart) => restart.member));
  expect(observed.filter((restart) => restart.readyAt === undefined)).toEqual([]);
  const names = scenario.members.map((member) => member.name).sort();
  const walked = passes(observed);
  // A single member has no neighbour to keep talking to, and goes straight to the end.
  expect(walked).toHaveLength(names.length === 1 ? 1 : 2);
  for (const pass of walked) expect(pass.restarts.map((restart) => restart.member).sort()).toEqual(names);
}

function expectLeaderLast({ pods, leaderships, startedAt }: Evidence): void {
  const walked = passes(restarts(pods));
  expect(leaderships).not.toEqual([]);
  walked.forEach((pass, index) => {
    const from = walked[index - 1]?.restarts.at(-1)?.readyAt ?? startedAt;
    const to = pass.restarts.at(-1)?.readyAt ?? from;
    const leader = leaderAt(leaderships, from) ?? leaderships[0]?.leader;
    expect({ pass: index + 1, last: pass.restarts.at(-1)?.member }).toEqual({ pass: index + 1, last: leader });
    expect(electionsBetween(leaderships, from, to).length).toBeLessThanOrEqual(1);
  });
}
