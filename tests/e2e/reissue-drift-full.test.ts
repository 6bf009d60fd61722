import { fetchServed } from "./harness/aftermath";
import { onScenario } from "./harness/case";
import { readSerials } from "./harness/certificates";
import { OVER_TLS } from "./harness/change";
import { eventually } from "./harness/command";
import { describeChange, describeCreation } from "./harness/expectations";
import { condition, makeAcmeIssuer, makeSelfSignedIssuer, renew } from "./harness/issuers";
import type { Kube } from "./harness/kube";
import { describeOnCluster } from "./harness/suite";

const API = "cert-manager.io/v1";
const SERVER = "etcd-server-cert";

describeOnCluster("what happens to certificates beside updates", () => {
  const { step, current } = onScenario({ name: "drift", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    const { kube, namespace } = scenario;
    await makeSelfSignedIssuer(kube, namespace, "self-signed");
    await makeAcmeIssuer(kube, namespace, "acme");
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  describeChange("a Certificate that somebody edited", step, current, {
    ...OVER_TLS,
    name: "Certificate edited by hand",
    edit: ({ kube, namespace }) => editByHand(kube, namespace),
    passes: 0,
    renewed: ["server"],
    says: [`restore Certificate ${SERVER}`],
  });

  describeChange("a Certificate that somebody deleted", step, current, {
    ...OVER_TLS,
    name: "Certificate deleted by hand",
    edit: ({ kube, namespace }) => kube.delete(API, "Certificate", SERVER, namespace),
    passes: 0,
    says: [`restore Certificate ${SERVER}`],
  });

  describe("a renewal by cert-manager itself", () => {
    step(
      "needs no update: preview is empty right after it",
      async () => {
        const before = await readSerials(current());
        const pods = await uids();
        for (const alias of ["server", "peer", "client"]) {
          await renew(current().kube, current().namespace, `etcd-${alias}-cert`);
        }
        const after = await readSerials(current());
        expect(Object.keys(after).filter((alias) => after[alias as "server"] === before[alias as "server"])).toEqual(
          [],
        );
        await current().stack.preview({ expectNoChanges: true });
        expect(await uids()).toEqual(pods);
      },
      180_000,
    );

    step(
      "and a pod that is deleted afterwards comes back beside members that still run on the old certificates",
      async () => {
        const { kube, namespace, members } = current();
        await kube.delete("v1", "Pod", "etcd-1", namespace);
        await eventually("every member to be ready again", 120_000, async () => {
          const ready = (await current().pods()).filter((pod) => pod.ready && !pod.terminating);
          return ready.length === members.length ? true : undefined;
        });
        await current().stack.preview({ expectNoChanges: true });
      },
      300_000,
    );

    step(
      "and every member serves the new ones within the kubelet's time",
      async () => {
        await eventually("the renewed certificates on every port", 180_000, async () => {
          const { server, peer } = await readSerials(current());
          const served = await fetchServed(current());
          return served.every(({ port, serial }) => serial === (port === "2379" ? server : peer)) ? true : undefined;
        });
        await current().stack.preview({ expectNoChanges: true });
        await current().stack.up({ skipPreview: true, expectNoChanges: true });
      },
      300_000,
    );
  });

  describe("what is refused while TLS is on", () => {
    let config: string;
    beforeEach(() => {
      config = current().stack.saveConfig();
    });
    afterEach(() => current().stack.restoreConfig(config));

    const once = "only one TLS reconfiguration operation is allowed at a time";
    test.each([
      ["rotation beside another issuer", { "etcd:tls.rotate": "x", "etcd:tls.issuerRef.name": "other" }, once],
      ["rotation beside another way to speak TLS", { "etcd:tls.rotate": "x", "etcd:tls.minVersion": "TLS1.3" }, once],
      [
        "certificate specs beside another way to speak TLS",
        {
          "etcd:tls.certificates[0].alias": "peer",
          "etcd:tls.certificates[0].duration": "48h",
          "etcd:tls.client.auth": "none",
        },
        once,
      ],
      [
        "a self-signed issuer",
        { "etcd:tls.issuerRef.name": "self-signed" },
        "self-signed is self-signed: each certificate",
      ],
      ["an ACME issuer", { "etcd:tls.issuerRef.name": "acme" }, "acme is an ACME issuer: it names no CA"],
    ])("%s", async (_, set, says) => expectRefused(() => current().stack.set(set), says), 120_000);

    test("certificates without an issuer", async () => {
      const says = "tls.issuerRef is required for Etcd ReconfigureTLS";
      await expectRefused(async () => {
        await current().stack.set({ "etcd:tls.certificates[0].alias": "server" });
        await current().stack.unset("etcd:tls.issuerRef");
      }, says);
    }, 120_000);
  });

  describeChange("TLS removed", step, current, {
    name: "remove",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
  });

  step(
    "rotation without TLS is refused",
    async () => {
      const says = "rotateCertificates requires TLS to already be enabled with issuerRef on Etcd";
      await expectRefused(async () => {
        await current().addTls();
        await current().stack.set({ "etcd:tls.rotate": "first" });
      }, says);
    },
    120_000,
  );

  async function expectRefused(edit: () => Promise<void>, says: string): Promise<void> {
    const before = { pods: await uids(), serials: await readSerials(current()) };
    await edit();
    expect(await current().stack.previewRefused()).toContain(says);
    expect({ pods: await uids(), serials: await readSerials(current()) }).toEqual(before);
  }

  async function uids(): Promise<string[]> {
    return (await current().pods()).map(({ name, uid }) => `${name} ${uid}`).sort();
  }
});

/** Adds a name, and waits until cert-manager has issued what that asks for. */
async function editByHand(kube: Kube, namespace: string): Promise<void> {
  const metadata = { name: SERVER, namespace };
  const read = async () => {
    const found = await kube.get(API, "Certificate", SERVER, namespace);
    if (!found) throw new Error(`there is no Certificate ${SERVER}`);
    return found as typeof found & { metadata: { generation?: number }; spec: { dnsNames: string[] } };
  };
  const dnsNames = [...(await read()).spec.dnsNames, "edited.example.org"];
  await kube.apply({ apiVersion: API, kind: "Certificate", metadata, spec: { dnsNames } });
  await eventually("the edited Certificate to be issued", 60_000, async () => {
    const found = await read();
    const seen = condition(found, "Ready")?.observedGeneration === found.metadata.generation;
    return seen && !condition(found, "Issuing") ? true : undefined;
  });
}
