import { onScenario } from "../harness/case";
import { describeRepair } from "../harness/expect-repair";
import { describeCreation } from "../harness/expectations";
import { describeOnCluster } from "../harness/suite";

describeOnCluster("faults: a renewal that nobody attended to", () => {
  const { step, current } = onScenario({ name: "renewals", replicas: 3, issuerKind: "Issuer" }, (scenario) =>
    scenario.addTls(),
  );

  describeCreation("created with TLS", step, current, "https");

  describeRepair(step, current, "then a pod is deleted", ["etcd-1"]);
});
