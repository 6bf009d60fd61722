import { onScenario } from "./harness/case";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { describeOnCluster } from "./harness/suite";

describeOnCluster("what else changes while TLS is on", () => {
  const { step, current } = onScenario(
    { name: "tls-settings", replicas: 3, issuerKind: "Issuer" },
    async (scenario) => {
      await scenario.addTls();
    },
  );

  describeCreation("created with TLS", step, current, "https");

  describeChange("another name and encoding for the server certificate", step, current, {
    ...OVER_TLS,
    name: "server-spec",
    edit: ({ stack }) =>
      stack.set({
        "etcd:tls.certificates[0].alias": "server",
        "etcd:tls.certificates[0].dnsNames[0]": "etcd.example.org",
        "etcd:tls.certificates[0].privateKey.encoding": "PKCS8",
      }),
    passes: 0,
    renewed: ["server"],
    differs: ['"etcd.example.org"', '"PKCS1" => "PKCS8"', "cert-manager.io/v1:Certificate::etcd-server-cert"],
  });

  describeChange("a restart for its own sake", step, current, {
    ...OVER_TLS,
    name: "restart",
    edit: ({ stack }) => stack.set({ "etcd:rollout.restart": "first" }),
    passes: 1,
    renewed: [],
  });

  describeChange("plaintext held beside TLS", step, current, {
    ...OVER_TLS,
    name: "hold",
    edit: ({ stack }) => stack.set({ "etcd:tls.client.alsoPlaintext": "true" }),
    passes: 1,
    renewed: [],
    admits: { plaintext: true },
    says: ["neither encrypted nor asked for a certificate"],
  });

  describeChange("plaintext released", step, current, {
    ...OVER_TLS,
    name: "release",
    edit: ({ stack }) => stack.unset("etcd:tls.client"),
    passes: 1,
    renewed: [],
  });
});
