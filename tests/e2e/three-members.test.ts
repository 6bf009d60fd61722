import { describeChange, describeCreation } from "./harness/expectations";
import { Scenario } from "./harness/scenario";
import { describeOnCluster, steps } from "./harness/suite";

describeOnCluster("three members", () => {
  const step = steps();
  let scenario: Scenario;
  const current = () => scenario;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "three", replicas: 3, issuerKind: "Issuer" });
  }, 240_000);

  afterAll(() => scenario?.close(), 600_000);

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
