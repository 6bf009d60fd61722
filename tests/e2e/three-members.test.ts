import { onScenario } from "./harness/case";
import { describeChange, describeCreation } from "./harness/expectations";
import { describeOnCluster } from "./harness/suite";

describeOnCluster("three members", () => {
  const { step, current } = onScenario({ name: "three", replicas: 3, issuerKind: "Issuer" });

  describeCreation("created without TLS", step, current, "http");

  describeChange("adding TLS", step, current, {
    name: "add",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
    document: "previews/add-tls.txt",
  });

  describeChange("removing TLS", step, current, {
    name: "remove",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
    document: "previews/remove-tls.txt",
  });

  describeChange("adding TLS again", step, current, {
    name: "add-again",
    from: "http",
    to: "https",
    edit: (each) => each.addTls(),
  });
});
