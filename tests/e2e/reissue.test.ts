import { onScenario } from "./harness/case";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { caOf } from "./harness/issuers";
import { describeOnCluster } from "./harness/suite";

describeOnCluster("another issuer, and rotation", () => {
  let issuerB: string;
  const { step, current } = onScenario({ name: "reissue", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    issuerB = await scenario.clusterIssuer("b");
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeChange("another issuer, with another CA", step, current, {
    ...OVER_TLS,
    name: "issuer",
    edit: ({ stack }) => stack.set({ "etcd:tls.issuerRef.kind": "ClusterIssuer", "etcd:tls.issuerRef.name": issuerB }),
    passes: 2,
    renewed: ["server", "peer", "client"],
    trusts: ({ kube }) => caOf(kube, issuerB),
    says: [
      /ask ClusterIssuer \S+-b for its CA/,
      /trust bundle: add CN=cert-manager \S+-b/,
      /widen: restart etcd-0/,
      "wait until every member serves its new certificates",
      /trust bundle: drop CN=\S+ etcd-ca/,
      /settle: restart etcd-0/,
    ],
  });

  describeChange("rotation", step, current, {
    ...OVER_TLS,
    name: "rotate",
    edit: ({ stack }) => stack.set({ "etcd:tls.rotate": "first" }),
    passes: 0,
    renewed: ["server", "peer", "client"],
    // The same token again does nothing: further updates are part of every change.
  });
});
