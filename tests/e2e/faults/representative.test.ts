import { onScenario } from "../harness/case";
import { OVER_TLS } from "../harness/change";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import { makeIssuer } from "../harness/issuers";
import { describeOnCluster } from "../harness/suite";

const GROUP = "One of each kind";

describeOnCluster("faults, one of each kind", () => {
  const { step, current } = onScenario({ name: "faults", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await makeIssuer(scenario.kube, scenario.namespace, "other-ca");
  });

  describeCreation("created without TLS", step, current, "http");

  describeFault(GROUP, step, current, {
    during: "adding TLS",
    fault:
      "the CLI is killed while the first member restarts, then the provider while a member is registered under both URLs",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
    happens: async (run) => {
      const first = run.start();
      await first.said(/^pass 1\/2: restarting/);
      await run.killCli(first);
      const second = run.start();
      await second.said(/^pass 2\/2: register the peer URLs of/);
      await run.killProvider(second);
    },
    restarts: 6,
  });

  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "another issuer",
    fault: "Ctrl-C while the members are made to trust it; the CLI is killed once certificates are issued anew",
    edit: ({ stack }) => stack.set({ "etcd:tls.issuerRef.name": "other-ca" }),
    happens: async (run) => {
      const first = run.start();
      await first.said(/^widen: restart /);
      await run.interrupt(first);
      const second = run.start();
      await second.said(/^(wait until every member serves|trust bundle: drop)/);
      await run.killCli(second);
    },
    restarts: 6,
  });

  describeFault(GROUP, step, current, {
    during: "removing TLS",
    fault: "the CLI is killed right after the template that changes the scheme; the settings are put back",
    from: "https",
    to: "https",
    retry: { eitherScheme: true },
    happens: async (run) => {
      const { stack } = run.scenario;
      const before = stack.saveConfig();
      await run.scenario.removeTls();
      const update = run.start();
      await update.said(/^pass 1\/2: set the member template to bridge/);
      await run.killCli(update);
      stack.restoreConfig(before);
    },
    // The provider notices after three seconds that its CLI is gone: whom it restarts till then, restarts once more.
    restarts: [0, 4],
  });
});
