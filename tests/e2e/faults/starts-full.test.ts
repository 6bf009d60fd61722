import { disarm, raiseNoSpace } from "../harness/alarm";
import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
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
