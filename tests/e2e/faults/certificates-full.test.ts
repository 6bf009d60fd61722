import { ageLeaves } from "../harness/aged-leaf";
import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
import { outOfReach, pauseProcess } from "../harness/control-plane";
import { environment, skipReason } from "../harness/environment";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { describeOnCluster } from "../harness/suite";

const GROUP = "Certificates that are not valid";

describeOnCluster("faults: certificates that are not valid", () => {
  const reason = skipReason() === undefined ? outOfReach(environment()) : undefined;
  if (reason) {
    test.skip(`skipped: ${reason}`, () => undefined);
    return;
  }
  const { step, current } = onScenario({ name: "validity", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "an update without a change",
    fault: "every leaf has expired while cert-manager stood still; it works again after the update has failed",
    edit: ({ stack }) => stack.set({ "etcd:rollout.issueTimeout": "20s" }),
    happens: async (run) => {
      const go = pauseProcess(run.scenario.environment, "cert-manager-controller");
      try {
        await ageLeaves(run.scenario, "etcd-ca", { fromDays: -91, toDays: -1 });
        const printed = await run.start().fail();
        expect(printed).toMatch(
          /Certificate etcd-\w+-cert to be issued anew \(it expired on .*cert-manager has not begun/,
        );
      } finally {
        go();
      }
      await run.scenario.stack.unset("etcd:rollout.issueTimeout");
    },
    restarts: 0,
    stopsWrites: "nobody gets in with an expired certificate",
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "an update without a change",
    fault: "no leaf is valid yet, and cert-manager sees nothing wrong with that",
    happens: async (run) => {
      await ageLeaves(run.scenario, "etcd-ca", { fromDays: 1, toDays: 91 });
      const update = run.start();
      await update.succeed();
      const reissued = update.steps.filter((line) => line.startsWith("re-issue Certificate"));
      expect(reissued).toHaveLength(3);
      for (const line of reissued) expect(line).toContain("it is not valid before");
    },
    restarts: 0,
    stopsWrites: "nobody gets in with a certificate that is not valid yet",
  });
});
