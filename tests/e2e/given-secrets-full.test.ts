import { onScenario } from "./harness/case";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { given, giveSecrets } from "./harness/given-secrets";
import { caOf, makeIssuer, renew } from "./harness/issuers";
import { describeOnCluster } from "./harness/suite";

describeOnCluster("Secrets that somebody else maintains", () => {
  const { step, current } = onScenario({ name: "given", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    for (const issuer of ["corp-a", "corp-b"]) await makeIssuer(scenario.kube, scenario.namespace, issuer);
  });

  describeCreation("created without TLS", step, current, "http");

  describeChange("adding TLS", step, current, {
    name: "add, given Secrets",
    from: "http",
    to: "https",
    edit: async (each) => each.takeCertificatesFrom("secrets", await giveSecrets(each, "corp-a")),
    trusts: ({ kube, namespace }) => caOf(kube, "corp-a", namespace),
    says: [/trust bundle: add CN=\S+ corp-a/],
  });

  describeChange("another CA behind the Secrets", step, current, {
    ...OVER_TLS,
    name: "another CA, given Secrets",
    edit: async (each) => void (await giveSecrets(each, "corp-b")),
    passes: 2,
    renewed: ["server", "peer", "client"],
    trusts: ({ kube, namespace }) => caOf(kube, "corp-b", namespace),
    says: [
      /trust bundle: add CN=\S+ corp-b/,
      /widen: restart etcd-0/,
      "wait until every member serves its new certificates",
      /trust bundle: drop CN=\S+ corp-a/,
      /settle: restart etcd-0/,
    ],
  });

  describeChange("a certificate renewed by who maintains it", step, current, {
    ...OVER_TLS,
    name: "renewal, given Secrets",
    edit: ({ kube, namespace }) => renew(kube, namespace, given("server")),
    passes: 0,
    renewed: ["server"],
    says: ["wait until every member serves its new certificates"],
  });

  describeChange("removing TLS", step, current, {
    name: "remove, given Secrets",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
  });

  step("leaves the Secrets of others alone", async () => {
    const { kube, namespace } = current();
    const kept = await Promise.all(
      (["server", "peer", "client"] as const).map((alias) => kube.get("v1", "Secret", given(alias), namespace)),
    );
    expect(kept).not.toContain(undefined);
  });
});
