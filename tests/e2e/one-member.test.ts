import { describeChange, describeCreation } from "./harness/expectations";
import { Scenario } from "./harness/scenario";
import { describeOnCluster, steps } from "./harness/suite";

/** A single member is away while it restarts, and there is no other to write to: retries have to outlast that. */
const retry = { overallMs: 30_000, eitherScheme: true };

describeOnCluster("one member", () => {
  const step = steps();
  let scenario: Scenario;
  const current = () => scenario;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "one", replicas: 1, issuerKind: "Issuer" });
  }, 240_000);

  afterAll(() => scenario?.close(), 600_000);

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
