import { onScenario } from "../harness/case";
import { eventually } from "../harness/command";
import { drain } from "../harness/drain";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { describeOnCluster } from "../harness/suite";

const GROUP = "Pods that go while members are walked";

describeOnCluster("faults: pods that go while members are walked", () => {
  const { step, current } = onScenario({ name: "pods", replicas: 3, issuerKind: "Issuer" });

  const podOf = async (member: string) => (await current().pods()).find(({ name }) => name === member);

  /** Takes the pod away that is being restarted, as soon as the new one is there. */
  async function deleteRestarting(told: string): Promise<void> {
    const member = restarting(told);
    const before = (await podOf(member))?.uid;
    await eventually(`the new pod of ${member}`, 60_000, async () => {
      const now = await podOf(member);
      return now && now.uid !== before && !now.terminating ? true : undefined;
    });
    await current().kube.delete("v1", "Pod", member, current().namespace);
  }

  /** Drains another member than the one that is being restarted, once that is down. Returns how often it was refused. */
  async function drainAnother(told: string): Promise<number> {
    const member = restarting(told);
    await eventually(`${member} to go down`, 60_000, async () => {
      const now = await podOf(member);
      return now?.ready && !now.terminating ? undefined : true;
    });
    return drain(current(), current().members.find(({ name }) => name !== member)?.name ?? "");
  }

  describeCreation("created without TLS", step, current, "http");

  describeFault(GROUP, step, current, {
    during: "adding TLS",
    fault: "a pod is deleted again while it restarts, in both passes",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
    happens: async (run) => {
      const update = run.start();
      await deleteRestarting(await update.said(/^pass 1\/2: restarting \S+ \(1 of 3\)/));
      await deleteRestarting(await update.said(/^pass 2\/2: restarting \S+ \(2 of 3\)/));
      await update.succeed();
    },
    restarts: 8,
    failedStarts: [0, 2],
  });

  describeFault(GROUP, step, current, {
    during: "removing TLS",
    fault: "a drain wants another member while one restarts, in both passes",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
    happens: async (run) => {
      const update = run.start();
      // Evictions are refused until the member is back: the budget counts the engine's own.
      expect(await drainAnother(await update.said(/^pass 1\/2: restarting \S+ \(1 of 3\)/))).toBeGreaterThan(0);
      expect(await drainAnother(await update.said(/^pass 2\/2: restarting \S+ \(1 of 3\)/))).toBeGreaterThan(0);
      await update.succeed();
    },
    // Drained before its turn, a member comes back on the new template already, and is left alone.
    restarts: [6, 8],
  });
});

function restarting(told: string): string {
  return /restarting (\S+)/.exec(told)?.[1] ?? "";
}
