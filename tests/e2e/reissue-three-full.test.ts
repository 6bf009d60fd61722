import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { caOf } from "./harness/issuers";
import { Scenario } from "./harness/scenario";
import { describeOnCluster, steps } from "./harness/suite";

describeOnCluster("re-issue, rotation and what else changes while TLS is on", () => {
  const step = steps();
  let scenario: Scenario;
  let issuerB: string;
  const current = () => scenario;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "reissue", replicas: 3, issuerKind: "Issuer" });
    issuerB = await scenario.clusterIssuer("b");
    await scenario.addTls();
  }, 240_000);

  afterAll(() => scenario?.close(), 600_000);

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

  describeChange("rotation", step, current, {
    ...OVER_TLS,
    name: "rotate",
    edit: ({ stack }) => stack.set({ "etcd:tls.rotate": "first" }),
    passes: 0,
    renewed: ["server", "peer", "client"],
    // The same token again does nothing: further updates are part of every change.
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
