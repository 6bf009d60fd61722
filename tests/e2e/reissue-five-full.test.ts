import { onScenario } from "./harness/case";
import { ALIASES } from "./harness/certificates";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { caOf, issuerSettings, makeClusterIssuerOf, renew } from "./harness/issuers";
import type { Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

const ALL = [...ALIASES];

describeOnCluster("five members go from issuer to issuer", () => {
  let issuerB: string;
  let sameAsA: string;
  const caOfA = (each: Scenario) => caOf(each.kube, each.issuerName, each.namespace);
  const { step, current } = onScenario({ name: "five", replicas: 5, issuerKind: "Issuer" }, async (scenario) => {
    const { kube, namespace, issuerName } = scenario;
    issuerB = await scenario.clusterIssuer("b");
    sameAsA = await scenario.clusterIssuer("same", (_, name) => makeClusterIssuerOf(kube, namespace, issuerName, name));
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeChange("another issuer, with another CA", step, current, {
    ...OVER_TLS,
    name: "issuer A to B",
    edit: ({ stack }) => stack.set(issuerSettings("ClusterIssuer", issuerB)),
    passes: 2,
    renewed: ALL,
    trusts: ({ kube }) => caOf(kube, issuerB),
  });

  describeChange("and back", step, current, {
    ...OVER_TLS,
    name: "issuer B to A",
    edit: (each) => each.addTls(),
    passes: 2,
    renewed: ALL,
    trusts: caOfA,
  });

  describeChange("another issuer of the same CA", step, current, {
    ...OVER_TLS,
    name: "Issuer to ClusterIssuer of one CA",
    edit: ({ stack }) => stack.set(issuerSettings("ClusterIssuer", sameAsA)),
    passes: 0,
    renewed: ALL,
    trusts: caOfA,
  });

  describeChange("another CA behind the same issuer", step, current, {
    ...OVER_TLS,
    name: "CA replaced behind its issuer",
    edit: ({ kube, namespace, issuerName }) => renew(kube, namespace, issuerName),
    passes: 2,
    renewed: ALL,
    trusts: caOfA,
    says: [
      /trust bundle: add CN=\S+ etcd-ca/,
      /re-issue Certificate etcd-peer-cert/,
      /trust bundle: drop CN=\S+ etcd-ca/,
    ],
  });
});
