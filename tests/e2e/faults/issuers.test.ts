import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
import { outOfReach, pauseProcess } from "../harness/control-plane";
import { environment, skipReason } from "../harness/environment";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { makeIssuer } from "../harness/issuers";
import { describeOnCluster } from "../harness/suite";

const GROUP = "What certificates need goes away";
const API = "cert-manager.io/v1";

describeOnCluster("faults: what certificates need goes away", () => {
  const reason = skipReason() === undefined ? outOfReach(environment()) : undefined;
  if (reason) {
    test.skip(`skipped: ${reason}`, () => undefined);
    return;
  }
  const { step, current } = onScenario({ name: "issuers", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await makeIssuer(scenario.kube, scenario.namespace, "other-ca");
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "another issuer",
    fault: "cert-manager stands still; the update fails of it, and the next one runs once it works again",
    edit: ({ stack }) => stack.set({ "etcd:tls.issuerRef.name": "other-ca", "etcd:rollout.issueTimeout": "20s" }),
    happens: async (run) => {
      const go = pauseProcess(run.scenario.environment, "cert-manager-controller");
      try {
        const printed = await run.start().fail();
        expect(printed).toContain("cert-manager has not looked at it yet (is it running?)");
      } finally {
        go();
      }
      await run.scenario.stack.unset("etcd:rollout.issueTimeout");
    },
    restarts: 6,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "another issuer",
    fault: "the issuer is deleted once the members trust it, and made again after the update has failed",
    edit: ({ stack }) => stack.set({ "etcd:tls.issuerRef.name": "etcd-ca", "etcd:rollout.issueTimeout": "20s" }),
    happens: async (run) => {
      const { kube, namespace, stack } = run.scenario;
      const update = run.start();
      await update.said(/^widen: restart /);
      await kube.delete(API, "Issuer", "etcd-ca", namespace);
      const printed = await update.fail();
      expect(printed).toMatch(/"?etcd-ca"?.*not found|etcd-ca does not exist/);
      // The next is refused before anything is touched.
      expect(await stack.previewRefused()).toContain("does not exist");
      await makeIssuer(kube, namespace, "etcd-ca");
      await stack.unset("etcd:rollout.issueTimeout");
    },
    restarts: 6,
  });
});
