import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
import { sleep } from "../harness/command";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { CLUSTER, type Scenario } from "../harness/scenario";
import { secondMachine } from "../harness/second-machine";
import { describeOnCluster } from "../harness/suite";

const GROUP = "Other people at work on the cluster";

describeOnCluster("faults: other people at work on the cluster", () => {
  const { step, current } = onScenario({ name: "people", replicas: 3, issuerKind: "Issuer" }, (scenario) =>
    scenario.addTls(),
  );

  const restart = (token: string) => (each: Scenario) => each.stack.set({ "etcd:rollout.restart": token });

  describeCreation("created with TLS", step, current, "https");

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "`kubectl rollout restart` while the first member restarts",
    edit: restart("kubectl"),
    happens: async (run) => {
      const update = run.start();
      await update.said(/^pass 1\/1: restarting/);
      const restartedAt = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
      const patch = { spec: { template: { metadata: { annotations: restartedAt } } } };
      await run.scenario.kube.edit("apps/v1", "StatefulSet", CLUSTER, run.scenario.namespace, patch);
      // A member that comes back on what somebody else has made ends the walk.
      if ((await update.end()) !== 0)
        expect(update.printed).toMatch(/somebody else changed (it|the workload) meanwhile/);
    },
    // Who was restarted before the other template was there restarts once more.
    restarts: [3, 5],
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "a second machine runs the same update",
    edit: restart("machines"),
    happens: async (run) => {
      const second = await secondMachine(run.scenario);
      const first = run.start();
      await first.said(/^pass 1\/1: set the member template/);
      const late = run.start(second);
      await Promise.all([first.succeed(), late.succeed()]);
      expect(first.steps.filter((line) => line.includes(": restart "))).toHaveLength(3);
      expect(late.steps).toEqual([]);
    },
    restarts: 3,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "the PodDisruptionBudget allows nothing for ten seconds, then does again",
    edit: restart("budget"),
    happens: async (run) => {
      const { kube, namespace } = run.scenario;
      const allow = (maxUnavailable: number) =>
        kube.edit("policy/v1", "PodDisruptionBudget", CLUSTER, namespace, { spec: { maxUnavailable } });
      const update = run.start();
      await update.said(/^pass 1\/1: restart /);
      await allow(0);
      await sleep(10_000);
      expect(update.code).toBeUndefined();
      await allow(1);
      await update.succeed();
    },
    restarts: 3,
  });
});
