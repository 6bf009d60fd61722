import { onScenario } from "./harness/case";
import { ALIASES, readLeaf, readSerials } from "./harness/certificates";
import { OVER_TLS } from "./harness/change";
import { eventually } from "./harness/command";
import { describeChange, describeCreation } from "./harness/expectations";
import { breakIssuer, caOf, issuerSettings, makeIntermediateIssuer, makeIssuer } from "./harness/issuers";
import type { Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

const ALL = [...ALIASES];

describeOnCluster("issuers of one certificate, of an intermediate CA, and one that fails", () => {
  let issuerB: string;
  let mend: (() => Promise<void>) | undefined;
  const caOfA = (each: Scenario) => caOf(each.kube, each.issuerName, each.namespace);
  const { step, current } = onScenario({ name: "issuers", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    const { kube, namespace } = scenario;
    issuerB = await scenario.clusterIssuer("b");
    await makeIntermediateIssuer(kube, namespace, "intermediate");
    await makeIssuer(kube, namespace, "fragile");
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeChange("an issuer for one certificate", step, current, {
    ...OVER_TLS,
    name: "issuer of the server certificate",
    edit: ({ stack }) =>
      stack.set({
        "etcd:tls.certificates[0].alias": "server",
        "etcd:tls.certificates[0].issuerRef.kind": "ClusterIssuer",
        "etcd:tls.certificates[0].issuerRef.name": issuerB,
      }),
    // The members are brought to trust it; nothing is dropped.
    passes: 1,
    renewed: ["server"],
    trusts: async (each) => `${await caOfA(each)}\n${await caOf(each.kube, issuerB)}`,
  });

  describeChange("and no more", step, current, {
    ...OVER_TLS,
    name: "no issuer of its own for it",
    edit: ({ stack }) => stack.unset("etcd:tls.certificates"),
    passes: 1,
    renewed: ["server"],
    trusts: caOfA,
  });

  describeChange("an issuer whose CA is an intermediate", step, current, {
    ...OVER_TLS,
    name: "intermediate CA",
    edit: ({ stack }) => stack.set(issuerSettings("Issuer", "intermediate")),
    passes: 2,
    renewed: ALL,
    // Its Secret has the root, so that is what cert-manager names as the CA; leaves bring the intermediate along.
    trusts: ({ kube, namespace }) => caOf(kube, "intermediate-root", namespace),
  });

  describeChange("from there to another issuer", step, current, {
    ...OVER_TLS,
    name: "intermediate CA to A",
    edit: (each) => each.addTls(),
    passes: 2,
    renewed: ALL,
    trusts: caOfA,
  });

  step(
    "an issuer that fails makes the update fail in cert-manager's words, and leaves the members as they were",
    async () => {
      const { stack, kube, namespace } = current();
      const before = { pods: await pods(), serials: await readSerials(current()) };
      await stack.set({ ...issuerSettings("Issuer", "fragile"), "etcd:rollout.stepTimeout": "30s" });
      await stack.preview();
      mend = await breakIssuer(kube, namespace, "fragile");
      expect(await stack.upRefused()).toMatch(/Pending: .*Issuer fragile is not Ready: .*not found/);
      expect({ pods: await pods(), serials: await readSerials(current()) }).toEqual(before);
    },
    300_000,
  );

  step(
    "which the next preview refuses",
    async () => {
      await eventually("the issuer to be judged", 60_000, async () => {
        expect(await current().stack.previewRefused()).toMatch(/Issuer \S+\/fragile is not Ready/);
        return true;
      });
    },
    180_000,
  );

  describeChange("once it is mended, the next update goes through", step, current, {
    ...OVER_TLS,
    name: "issuer that failed before",
    edit: async ({ stack }) => {
      await mend?.();
      await stack.set({ "etcd:rollout.stepTimeout": "2m" });
    },
    passes: 2,
    renewed: ALL,
    trusts: ({ kube, namespace }) => caOf(kube, "fragile", namespace),
  });

  step("has leaves of that issuer", async () => {
    expect((await readLeaf(current(), "server"))?.issuer).toContain("fragile");
  });

  async function pods() {
    return (await current().pods()).map(({ name, uid }) => `${name} ${uid}`).sort();
  }
});
