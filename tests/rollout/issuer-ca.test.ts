import type { IssuerRef, TrustedCa } from "../../config";
import { readTrustedCas } from "../../rollout/bundle";
import { learnCa, peekCa, sweepProbes } from "../../rollout/issuer-ca";
import type { Ports } from "../../rollout/ports";
import { Scenario, tlsSpec } from "./world";
import { Authority } from "./world/pki";

const spec = tlsSpec(3, { rollout: { stepTimeout: "10s" } });
const ref: IssuerRef = { apiGroup: "cert-manager.io", kind: "Issuer", name: "ca-a" };

/** The world's ports with one method of Kubernetes' changed. */
const withKube = (ports: Ports, kube: Partial<Ports["kube"]>): Ports => ({
  ...ports,
  kube: { ...ports.kube, ...kube },
});

describe("the CAs that a spec names itself", () => {
  const pem = Authority.root("own").certificate;
  const base64 = Buffer.from(pem).toString("base64");

  async function read(ca: TrustedCa, data?: Record<string, string>): Promise<string> {
    const { world, faults } = new Scenario(spec);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cas" }, data: data ?? {} };
    if (data && "configMap" in ca) world.configMaps.set("cas", object);
    if (data && "secret" in ca) world.certManager.secrets.set("cas", { certificate: "", key: "", ca: "", object });
    const named = { ...spec, tls: { ...spec.tls!, trustedCAs: [ca] } };
    return faults
      .run((ports) => readTrustedCas(ports, named))
      .then(
        ([found]) => found ?? "",
        (error: Error) => error.message,
      );
  }

  test.each<[string, TrustedCa, Record<string, string> | undefined]>([
    ["as text", { pem }, undefined],
    ["in a ConfigMap", { configMap: { name: "cas", key: "ca" } }, { ca: pem }],
    ["in a Secret", { secret: { name: "cas", key: "ca" } }, { ca: base64 }],
  ])("%s", async (_, ca, data) => {
    expect(await read(ca, data)).toBe(pem);
  });

  test.each<[string, TrustedCa, Record<string, string> | undefined, string]>([
    ["a ConfigMap that is not there", { configMap: { name: "cas", key: "ca" } }, undefined, "does not exist"],
    ["another key", { secret: { name: "cas", key: "ca" } }, { other: base64 }, "no certificate under the key ca"],
    ["something else", { secret: { name: "cas", key: "ca" } }, { ca: "eA==" }, "no certificate under the key ca"],
  ])("%s is refused", async (_, ca, data, reason) => {
    expect(await read(ca, data)).toMatch(new RegExp(`etcd:tls.trustedCAs\\[0\\]: .* data/cas .*${reason}`));
  });
});

describe("an issuer that is asked", () => {
  const further = Authority.root("further");

  /** What is learnt, when the probe's Secret holds this. */
  async function learn(material: { certificate: string; ca?: string }, trusted = ""): Promise<string> {
    const { faults, world } = new Scenario(spec);
    const result = await faults
      .run((ports) =>
        learnCa(withKube(ports, { secretMaterial: async () => ({ key: "", ...material }) }), spec, ref, trusted),
      )
      .catch((error: Error) => error.message);
    expect([...world.certManager.certificates.keys(), ...world.certManager.secrets.keys()]).toEqual([]);
    return result;
  }

  test("tells its CA, and leaves nothing behind", async () => {
    const { faults, world } = new Scenario(spec);
    const learnt = await faults.run((ports) => learnCa(ports, spec, ref, ""));
    expect(learnt).toBe(world.certManager.issuers.get("Issuer/ca-a")!.authority.certificate);
    expect(world.certManager.secrets.size).toBe(0);
  });

  test("may be self-signed: refused", async () => {
    const { certificate } = further;
    expect(await learn({ certificate, ca: certificate })).toContain("Issuer ca-a is self-signed");
  });

  test("may name no CA: refused, unless the spec names it", async () => {
    const { certificate } = further.issue("leaf");
    expect(await learn({ certificate })).toContain("Issuer ca-a gives no CA certificate (ca.crt is empty)");
    expect(await learn({ certificate }, further.certificate)).toBe("");
  });

  test("may name another CA than it signs with: refused", async () => {
    const ca = Authority.root("another").certificate;
    expect(await learn({ certificate: further.issue("leaf").certificate, ca })).toContain("chains neither to the CA");
  });

  test("may sign with an intermediate: its own Secret has the root", async () => {
    const root = Authority.root("root");
    const intermediate = root.intermediate("intermediate");
    const { certificate } = intermediate.issue("leaf");
    const { faults } = new Scenario(spec);
    const learnt = await faults.run((ports) => {
      const chain = { certificate: intermediate.certificate, key: "", ca: root.certificate };
      const probe = { certificate, key: "", ca: intermediate.certificate };
      const secretMaterial = async (_: string, name: string) => (name.includes("-probe-") ? probe : chain);
      return learnCa(withKube(ports, { secretMaterial }), spec, ref, "");
    });
    expect(learnt.split("\n").map((line) => line.trim())).toEqual(
      expect.arrayContaining([...root.certificate.trim().split("\n"), ...intermediate.certificate.trim().split("\n")]),
    );
  });

  test("may sign with an intermediate alone: that is the anchor then", async () => {
    const intermediate = Authority.root("root").intermediate("intermediate");
    const { certificate } = intermediate.issue("leaf");
    const { faults } = new Scenario(spec);
    const probe = { certificate, key: "", ca: intermediate.certificate };
    const chain = { certificate: intermediate.certificate, key: "" };
    const secretMaterial = async (_: string, name: string) => (name.includes("-probe-") ? probe : chain);
    const ask = (ports: Ports) => learnCa(withKube(ports, { secretMaterial }), spec, ref, "");
    expect(await faults.run(ask)).toBe(intermediate.certificate);
    const unseen = (ports: Ports) =>
      learnCa(
        withKube(ports, { secretMaterial: async (_, name) => (name.includes("-probe-") ? probe : undefined) }),
        spec,
        ref,
        "",
      );
    expect(await faults.run(unseen)).toBe(intermediate.certificate);
    expect((await faults.run((ports) => peekCa(withKube(ports, { secretMaterial }), "data", ref)))?.trim()).toBe(
      intermediate.certificate.trim(),
    );
  });
});

describe("an issuer that is only looked at", () => {
  const peek = (asked: IssuerRef, change: (scenario: Scenario) => void = () => {}) => {
    const scenario = new Scenario(spec);
    change(scenario);
    return scenario.faults.run((ports) => peekCa(ports, "data", asked));
  };

  test("of another group, or kind, tells nothing", async () => {
    expect(await peek({ ...ref, apiGroup: "awspca.cert-manager.io" })).toBeUndefined();
    expect(
      await peek(ref, ({ world }) => void world.certManager.addIssuer("Issuer", "ca-a", { type: "vault" })),
    ).toBeUndefined();
  });

  test("a ClusterIssuer's Secret is in cert-manager's namespace", async () => {
    const scenario = new Scenario(spec);
    const { authority } = scenario.world.certManager.addIssuer("ClusterIssuer", "ca-a");
    const asked: string[] = [];
    const found = await scenario.faults.run((ports) => {
      const secretMaterial = async (namespace: string) => {
        asked.push(namespace);
        return { certificate: authority.certificate, key: "" };
      };
      return peekCa(withKube(ports, { secretMaterial }), "data", { ...ref, kind: "ClusterIssuer" });
    });
    expect(found?.trim()).toBe(authority.certificate.trim());
    expect(asked).toEqual(["cert-manager"]);
  });

  test("that may not be looked at tells nothing", async () => {
    const { faults } = new Scenario(spec);
    const get = async () => {
      throw new Error("Forbidden (403)");
    };
    expect(await faults.run((ports) => peekCa(withKube(ports, { get }), "data", ref))).toBeUndefined();
  });
});

test("without cert-manager there is nothing to sweep", async () => {
  const { faults, world } = new Scenario(spec);
  world.served.delete("cert-manager.io/v1 Certificate");
  await faults.run((ports) => sweepProbes(ports, spec));
  expect(faults.calls).toBe(1);
});

test("whoever may not see probes sweeps none", async () => {
  const { faults, world } = new Scenario(spec);
  world.forbidden.add("list secrets");
  await faults.run((ports) => sweepProbes(ports, spec));
  expect(faults.calls).toBe(2);
});
