import { onScenario } from "../harness/case";
import { describeRepair } from "../harness/expect-repair";
import { describeCreation } from "../harness/expectations";
import { describeOnCluster } from "../harness/suite";

describeOnCluster("faults: renewals that nobody attended to", () => {
  const { step, current } = onScenario({ name: "renewals", replicas: 3, issuerKind: "Issuer" }, (scenario) =>
    scenario.addTls(),
  );

  describeCreation("created with TLS", step, current, "https");

  describeRepair(step, current, "the members live on the connections that they have", []);
  describeRepair(step, current, "then every pod is deleted", ["etcd-0", "etcd-1", "etcd-2"]);
});
