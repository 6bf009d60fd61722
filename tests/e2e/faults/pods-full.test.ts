import { eventually } from "../harness/command";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { Scenario } from "../harness/scenario";
import { describeOnCluster, steps } from "../harness/suite";

const GROUP = "Pods that go while members are walked";

describeOnCluster("faults: pods that go while members are walked", () => {
  const step = steps();
  let scenario: Scenario;
  const current = () => scenario;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "pods", replicas: 3, issuerKind: "Issuer" });
  }, 240_000);

  afterAll(() => scenario?.close(), 600_000);

  const podOf = async (member: string) => (await scenario.pods()).find(({ name }) => name === member);

  /** Takes the pod away that is being restarted, as soon as the new one is there. */
  async function deleteRestarting(told: string): Promise<void> {
    const member = restarting(told);
    const before = (await podOf(member))?.uid;
    await eventually(`the new pod of ${member}`, 60_000, async () => {
      const now = await podOf(member);
      return now && now.uid !== before && !now.terminating ? true : undefined;
    });
    await scenario.kube.delete("v1", "Pod", member, scenario.namespace);
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
});

function restarting(told: string): string {
  return /restarting (\S+)/.exec(told)?.[1] ?? "";
}
