import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
import { eventually } from "../harness/command";
import { leaderOf, moveLeader } from "../harness/etcdctl";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { addLearner } from "../harness/learner";
import { editMemberArgs } from "../harness/member-args";
import { predictedLeader } from "../harness/plan-lines";
import type { Scenario } from "../harness/scenario";
import { describeOnCluster } from "../harness/suite";

const GROUP = "Other people at work on the cluster";

describeOnCluster("faults: other people at work on the cluster", () => {
  const { step, current } = onScenario({ name: "people-full", replicas: 3, issuerKind: "Issuer" });

  const restart = (token: string) => (each: Scenario) => each.stack.set({ "etcd:rollout.restart": token });

  describeCreation("created without TLS", step, current, "http");

  describeFault(GROUP, step, current, {
    during: "a restart of all members",
    fault: "a learner is there that the stack knows nothing of",
    from: "http",
    to: "http",
    edit: restart("learner"),
    happens: async (run) => {
      const remove = await addLearner(run.scenario);
      const update = run.start();
      await update.succeed();
      expect(update.steps.filter((line) => line.includes("learner"))).toEqual([]);
      await remove();
    },
    restarts: 3,
  });

  describeFault(GROUP, step, current, {
    during: "adding TLS",
    fault: "somebody moves leadership between preview and the first restart, and again in the second pass",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
    happens: async (run) => {
      const predicted = predictedLeader((await run.scenario.stack.preview()).stdout);
      expect(predicted).toBeDefined();
      const others = run.scenario.members.map(({ name }) => name).filter((name) => name !== predicted);
      await moveLeader(run.scenario, "http", others[0] ?? "");
      const update = run.start();
      await update.said(/^pass 2\/2: set the member template/);
      // The bridge still takes both.
      await eventually("leadership to be moved", 30_000, async () => {
        const leader = await leaderOf(run.scenario, "http");
        const heir = run.scenario.members.find(({ name }) => name !== leader)?.name ?? "";
        await moveLeader(run.scenario, "http", heir);
        return true;
      });
      await update.succeed();
      const restarted = update.steps.flatMap((line) => /^pass 1\/2: restart (\S+):/.exec(line)?.[1] ?? []);
      expect(restarted.at(-1)).toBe(others[0]);
    },
    restarts: 6,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "`kubectl edit` takes etcd's arguments for TLS away while the second member restarts",
    edit: restart("edited"),
    happens: async (run) => {
      const update = run.start();
      await update.said(/^pass 1\/1: restarting \S+ \(2 of 3\)/);
      await editMemberArgs(run.scenario, (args) =>
        args.filter((arg) => !/^--(trusted-ca-file|client-cert-auth)=/.test(arg)),
      );
      // A member that comes back on what somebody else has made ends the walk.
      if ((await update.end()) !== 0)
        expect(update.printed).toMatch(/somebody else changed (it|the workload) meanwhile/);
    },
    restarts: [3, 5],
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "a restart of all members",
    fault: "a second PodDisruptionBudget over the same pods, taken away once the update has failed of it",
    edit: async ({ stack }) => stack.set({ "etcd:rollout.restart": "budgets", "etcd:rollout.stepTimeout": "20s" }),
    happens: async (run) => {
      const { kube, namespace, stack } = run.scenario;
      await kube.apply({
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "stricter", namespace },
        spec: { maxUnavailable: 0, selector: { matchLabels: { "app.kubernetes.io/component": "member" } } },
      });
      const printed = await run.start().fail();
      expect(printed).toMatch(/the eviction of etcd-\d/);
      expect(printed).toContain("PodDisruptionBudget");
      await kube.delete("policy/v1", "PodDisruptionBudget", "stricter", namespace);
      await stack.set({ "etcd:rollout.stepTimeout": "2m" });
    },
    restarts: 3,
  });
});
