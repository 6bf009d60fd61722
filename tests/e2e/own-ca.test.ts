import { onScenario } from "./harness/case";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { describeOnCluster } from "./harness/suite";

describeOnCluster("a CA of the cluster's own", () => {
  const { step, current } = onScenario({ name: "own-ca", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await scenario.takeCertificatesFrom("ca", { "etcd:tls.ca.generation": "1" });
  });

  describeCreation("created with TLS", step, current, "https");

  describeChange("another generation of the CA", step, current, {
    ...OVER_TLS,
    name: "generation",
    edit: ({ stack }) => stack.set({ "etcd:tls.ca.generation": "2" }),
    passes: 2,
    renewed: ["server", "peer", "client"],
    trusts: async ({ stack }) => (await stack.outputs<{ caBundle: string }>()).caBundle,
    says: [
      "trust bundle: add CN=etcd CA 2",
      /widen: restart etcd-0/,
      "wait until every member serves its new certificates",
      "trust bundle: drop CN=etcd CA",
      /settle: restart etcd-0/,
    ],
    document: "previews/ca-generation.txt",
  });

  describeChange("rotation", step, current, {
    ...OVER_TLS,
    name: "rotate",
    edit: ({ stack }) => stack.set({ "etcd:tls.rotate": "first" }),
    passes: 0,
    renewed: ["server", "peer", "client"],
  });

  describeChange("from the own CA to an issuer", step, current, {
    ...OVER_TLS,
    name: "to-issuer",
    edit: (each) => each.addTls(),
    passes: 2,
    renewed: ["server", "peer", "client"],
    says: [/ask Issuer etcd-ca for its CA/, /widen: restart etcd-0/, /settle: restart etcd-0/],
  });
});
