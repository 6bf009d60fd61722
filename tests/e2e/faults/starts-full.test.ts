import { disarm, raiseNoSpace } from "../harness/alarm";
import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
import { cordon } from "../harness/cordon";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { CLUSTER } from "../harness/scenario";
import { describeOnCluster } from "../harness/suite";

const GROUP = "Members that cannot start or serve";

describeOnCluster("faults: members that cannot start or serve", () => {
  const { step, current } = onScenario({ name: "starts", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "another image",
    fault: "the image does not exist; the settings are put back",
    edit: ({ stack }) => stack.set({ "etcd:rollout.stepTimeout": "20s" }),
    happens: async (run) => {
      const { stack } = run.scenario;
      const before = stack.saveConfig();
      await stack.set({ "etcd:image": "localhost/etcd:no-such" });
      const printed = await run.start().fail();
      expect(printed).toMatch(/etcd-\d to be ready: (ErrImagePull|ImagePullBackOff|ErrImageNeverPull)/);
      // The one that is down is no reason to go on with the others.
      stack.restoreConfig(before);
    },
    restarts: 2,
    failedStarts: 1,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "no node takes a member's pod before it; nodes take pods again after the update has failed",
    edit: ({ stack }) => stack.set({ "etcd:rollout.restart": "no-node-before", "etcd:rollout.stepTimeout": "20s" }),
    happens: async (run) => {
      const { kube, namespace, stack } = run.scenario;
      const uncordon = await cordon(run.scenario);
      try {
        await kube.delete("v1", "Pod", "etcd-2", namespace);
        const update = run.start();
        expect(await update.fail()).toMatch(/etcd-2 .*Unschedulable/);
        // The other members are not touched while one is down.
        expect(update.steps.filter((line) => /restart etcd-[01]/.test(line))).toEqual([]);
      } finally {
        await uncordon();
      }
      await stack.set({ "etcd:rollout.stepTimeout": "2m" });
    },
    // The one that was taken away may come back on the new template already.
    restarts: [3, 5],
    failedStarts: [0, 2],
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "no node takes the second member's pod; nodes take pods again after the update has failed",
    edit: ({ stack }) => stack.set({ "etcd:rollout.restart": "no-node", "etcd:rollout.stepTimeout": "20s" }),
    happens: async (run) => {
      const update = run.start();
      await update.said(/^pass 1\/1: restart /);
      const uncordon = await cordon(run.scenario);
      try {
        expect(await update.fail()).toMatch(/etcd-\d to be ready: Unschedulable/);
      } finally {
        await uncordon();
      }
      await run.scenario.stack.set({ "etcd:rollout.stepTimeout": "2m" });
    },
    // The pod that was pending is the one that gets ready.
    restarts: 3,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "somebody's edit of the workload lets no pod be scheduled any more",
    edit: ({ stack }) => stack.set({ "etcd:rollout.restart": "nowhere" }),
    happens: async (run) => {
      const { kube, namespace, stack } = run.scenario;
      const select = (value: string | null) =>
        kube.edit("apps/v1", "StatefulSet", CLUSTER, namespace, {
          spec: { template: { spec: { nodeSelector: { nowhere: value } } } },
        });
      await select("yes");
      const printed = await run.start().fail();
      expect(printed).toMatch(/etcd-\d to be ready: Unschedulable/);
      await select(null);
      await stack.set({ "etcd:rollout.stepTimeout": "2m" });
    },
    restarts: 4,
    failedStarts: 1,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "an alarm NOSPACE is raised before it, and another in the middle",
    edit: ({ stack }) => stack.set({ "etcd:rollout.restart": "alarm", "etcd:rollout.stepTimeout": "20s" }),
    happens: async (run) => {
      const { stack } = run.scenario;
      await raiseNoSpace(run.scenario);
      const refused = await stack.previewRefused();
      expect(refused).toContain("alarm NOSPACE is raised");
      expect(refused).toContain("etcdctl alarm disarm");
      await disarm(run.scenario);
      const update = run.start();
      await update.said(/^pass 1\/1: restart /);
      await raiseNoSpace(run.scenario);
      const printed = await update.fail();
      expect(printed).toContain("alarm NOSPACE is raised");
      await disarm(run.scenario);
      await stack.set({ "etcd:rollout.stepTimeout": "2m" });
    },
    restarts: 3,
    stopsWrites: "etcd refuses writes while the alarm is raised",
  });
});
