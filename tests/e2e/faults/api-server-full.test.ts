import { onScenario } from "../harness/case";
import { eventually, sleep } from "../harness/command";
import { outOfReach, pauseProcess } from "../harness/control-plane";
import { environment, skipReason } from "../harness/environment";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { describeOnCluster } from "../harness/suite";

const GROUP = "The API server goes away";

describeOnCluster("faults: the API server goes away", () => {
  const reason = skipReason() === undefined ? outOfReach(environment()) : undefined;
  if (reason) {
    test.skip(`skipped: ${reason}`, () => undefined);
    return;
  }
  const { step, current } = onScenario({ name: "api-server", replicas: 3, issuerKind: "Issuer" });

  describeCreation("created without TLS", step, current, "http");

  describeFault(GROUP, step, current, {
    during: "adding TLS",
    fault: "the API server answers nobody for a minute while a member restarts in the second pass",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
    happens: async (run) => {
      const update = run.start();
      const [, member] = /restarting (\S+)/.exec(await update.said(/^pass 2\/2: restarting/)) ?? [];
      await eventually(`${member} to go down`, 60_000, async () => {
        const pod = (await run.scenario.pods()).find(({ name }) => name === member);
        return pod?.ready && !pod.terminating ? undefined : true;
      });
      const go = pauseProcess(run.scenario.environment, "kube-apiserver");
      try {
        await sleep(60_000);
      } finally {
        go();
      }
      await update.succeed();
    },
    restarts: 6,
    // Nodes that could not report for so long may be taken for lost, and their pods for not ready, for a moment.
    mayLookDown: "the node controller",
  });
});
