import { onScenario } from "./harness/case";
import { describeChange, describeCreation } from "./harness/expectations";
import { describeOnCluster } from "./harness/suite";

/** A single member is away while it restarts, and there is no other to write to: retries have to outlast that. */
const retry = { overallMs: 30_000, eitherScheme: true };

describeOnCluster("one member", () => {
  const { step, current } = onScenario({ name: "one", replicas: 1, issuerKind: "Issuer" });

  describeCreation("created without TLS", step, current, "http");

  describeChange("adding TLS", step, current, {
    name: "add",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
    retry,
  });

  describeChange("removing TLS", step, current, {
    name: "remove",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
    retry,
  });
});
