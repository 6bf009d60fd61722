import { onScenario } from "./harness/case";
import { OVER_TLS } from "./harness/change";
import { eventually } from "./harness/command";
import { readAdmission } from "./harness/etcd-writer";
import { describeChange, describeCreation } from "./harness/expectations";
import { foreignCredentials } from "./harness/foreign-client";
import { caOf, makeIssuer } from "./harness/issuers";
import type { Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";
import { shakeHands } from "./harness/tls-probe";

describeOnCluster("who gets in, and how TLS is spoken", () => {
  const caOfA = (each: Scenario) => caOf(each.kube, each.issuerName, each.namespace);
  const bothCas = async (each: Scenario) => `${await caOfA(each)}\n${await caOf(each.kube, "foreign", each.namespace)}`;
  const { step, current } = onScenario({ name: "clients", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await makeIssuer(scenario.kube, scenario.namespace, "foreign");
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeChange("clients need no certificate", step, current, {
    ...OVER_TLS,
    name: "client.auth none",
    edit: ({ stack }) => stack.set({ "etcd:tls.client.auth": "none" }),
    passes: 1,
    renewed: [],
    admits: { anonymousTls: true },
    says: ["anybody who reaches port 2379 gets in"],
  });

  describeChange("clients need a certificate again", step, current, {
    ...OVER_TLS,
    name: "client.auth required",
    edit: ({ stack }) => stack.unset("etcd:tls.client"),
    passes: 1,
    renewed: [],
  });

  describeChange("a newer TLS only", step, current, {
    ...OVER_TLS,
    name: "minVersion TLS1.3",
    edit: ({ stack }) => stack.set({ "etcd:tls.minVersion": "TLS1.3" }),
    passes: 1,
    renewed: [],
  });

  step("clients that know only TLS 1.2 are refused by every member", async () => {
    for (const { error } of await shakeHands(current(), "TLSv1.2")) expect(error).toMatch(/protocol version/i);
    for (const { protocol } of await shakeHands(current(), "TLSv1.3")) expect(protocol).toBe("TLSv1.3");
  });

  describeChange("TLS 1.2 again, with one cipher suite", step, current, {
    ...OVER_TLS,
    name: "cipherSuites",
    edit: async ({ stack }) => {
      await stack.unset("etcd:tls.minVersion");
      await stack.set({ "etcd:tls.cipherSuites[0]": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" });
    },
    passes: 1,
    renewed: [],
  });

  step("every member speaks that suite to clients that know only TLS 1.2", async () => {
    for (const handshake of await shakeHands(current(), "TLSv1.2")) {
      expect(handshake).toEqual({ protocol: "TLSv1.2", cipher: "ECDHE-RSA-AES128-GCM-SHA256" });
    }
  });

  step("a client of another CA is refused", async () => {
    expect(await foreignClient()).toEqual(["refused", "refused", "refused"]);
  });

  describeChange("that CA trusted, by a ConfigMap", step, current, {
    ...OVER_TLS,
    name: "trustedCAs by ConfigMap",
    edit: async (each) => {
      const ca = await caOf(each.kube, "foreign", each.namespace);
      const metadata = { name: "client-cas", namespace: each.namespace };
      await each.kube.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": ca } });
      await each.stack.set({ "etcd:tls.trustedCAs[0].configMap.name": "client-cas" });
    },
    passes: 1,
    renewed: [],
    trusts: bothCas,
    says: [/trust bundle: add CN=\S+ foreign/],
  });

  step("its client gets in", async () => {
    expect(await foreignClient()).toEqual(["accepted", "accepted", "accepted"]);
  });

  describeChange("the same CA, written out", step, current, {
    ...OVER_TLS,
    name: "trustedCAs by pem",
    edit: async (each) => {
      await each.stack.unset("etcd:tls.trustedCAs");
      await each.stack.set({ "etcd:tls.trustedCAs[0].pem": await caOf(each.kube, "foreign", each.namespace) });
    },
    passes: 0,
    renewed: [],
    trusts: bothCas,
  });

  describeChange("that CA no longer trusted", step, current, {
    ...OVER_TLS,
    name: "trustedCAs released",
    edit: ({ stack }) => stack.unset("etcd:tls.trustedCAs"),
    passes: 1,
    renewed: [],
    trusts: caOfA,
    says: [/trust bundle: drop CN=\S+ foreign/],
  });

  step("its client is refused again", async () => {
    expect(await foreignClient()).toEqual(["refused", "refused", "refused"]);
  });

  /** What becomes, at each member, of a client whose certificate is of the other CA. */
  async function foreignClient(): Promise<string[]> {
    const credentials = await eventually("the other CA's client certificate", 60_000, () =>
      foreignCredentials(current(), "foreign"),
    );
    const settings = { members: current().members, credentials, prefix: "", keysFile: `${current().folder}/foreign` };
    const admission = await readAdmission(current().environment, settings);
    return admission.map(({ tls }) => tls.split(":")[0] ?? "");
  }
});
