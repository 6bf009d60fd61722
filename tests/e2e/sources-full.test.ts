import { onScenario } from "./harness/case";
import type { Source } from "./harness/certificates";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { giveSecrets } from "./harness/given-secrets";
import { makeIssuer } from "./harness/issuers";
import type { Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

const WORDS: Record<Source, string> = { issuer: "an issuer", ca: "an own CA", secrets: "given Secrets" };

/** Each move from one source to another once, but for the one from an own CA to an issuer, which has a case elsewhere. */
const MOVES: [from: Source, to: Source][] = [
  ["issuer", "ca"],
  ["ca", "secrets"],
  ["secrets", "issuer"],
  ["issuer", "secrets"],
  ["secrets", "ca"],
];

describeOnCluster("certificates from another source", () => {
  const { step, current } = onScenario({ name: "sources", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await makeIssuer(scenario.kube, scenario.namespace, "corp-a");
    await scenario.addTls();
  });

  describeCreation("created with an issuer", step, current, "https");

  async function move(each: Scenario, to: Source): Promise<void> {
    if (to === "issuer") return each.addTls();
    if (to === "ca") return each.takeCertificatesFrom("ca", { "etcd:tls.ca.generation": "1" });
    return each.takeCertificatesFrom("secrets", await giveSecrets(each, "corp-a"));
  }

  for (const [from, to] of MOVES) {
    describeChange(`from ${WORDS[from]} to ${WORDS[to]}`, step, current, {
      ...OVER_TLS,
      name: `from ${WORDS[from]} to ${WORDS[to]}`,
      edit: (each) => move(each, to),
      passes: 2,
      renewed: ["server", "peer", "client"],
      says: [/trust bundle: add /, /widen: restart etcd-0/, /trust bundle: drop /, /settle: restart etcd-0/],
    });
  }
});
