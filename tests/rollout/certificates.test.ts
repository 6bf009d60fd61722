import { certificateName } from "../../config";
import type { CertificateSpec } from "../../config/types";
import type { KubeObject } from "../../manifests";
import { awaitCertificates, checkMaterial, demandCertificates } from "../../rollout/certificates";
import type { SecretMaterial } from "../../rollout/ports";
import { ownCaSpec, Scenario, tlsSpec } from "./world";
import { Authority, type IssueOptions } from "./world/pki";

const ca = Authority.root("ca");
const asked = {
  ...tlsSpec(3).tls!.certificates[0]!,
  dnsNames: ["db.data.svc", "*.db-pods.data.svc"],
  ipAddresses: ["127.0.0.1", "::1"],
  uris: ["spiffe://data/db"],
  emailAddresses: ["ops@example.org"],
};

const issue = (options: IssueOptions = {}, from = ca) => ({
  ...from.issue("db", { names: asked, ...options }),
  ca: "",
});

const check = (material: SecretMaterial, spec: CertificateSpec, bundle: string, now = Date.now()) =>
  checkMaterial(material, spec, bundle, now);

describe("what is wrong with a leaf", () => {
  test("nothing", () => {
    expect(check(issue(), asked, ca.certificate)).toBeUndefined();
  });

  test("an IPv6 address counts in every spelling", () => {
    const spelled = { ...asked, ipAddresses: ["0:0:0:0:0:0:0:1", "127.0.0.1"] };
    expect(check(issue(), spelled, ca.certificate)).toBeUndefined();
  });

  test.each<[string, () => string | undefined, string]>([
    ["no certificate", () => check({ ...issue(), certificate: "" }, asked, ca.certificate), "no certificate"],
    [
      "another key",
      () => check({ ...issue(), key: issue().key }, asked, ca.certificate),
      "the certificate does not match its key",
    ],
    ["another CA", () => check(issue({}, Authority.root("x")), asked, ca.certificate), "does not chain to the trust"],
    ["an empty bundle", () => check(issue(), asked, ""), "does not chain to the trust bundle"],
    [
      "its end",
      () => check(issue({ notAfter: new Date("2021-01-01") }), asked, ca.certificate),
      "the certificate expired on Jan  1 00:00:00 2021 GMT",
    ],
    [
      "its beginning",
      () => check(issue(), asked, ca.certificate, Date.parse("2001-01-01")),
      "the certificate is not valid before",
    ],
    ...(["dnsNames", "ipAddresses", "uris", "emailAddresses"] as const).map(
      (field): [string, () => string | undefined, string] => [
        `missing ${field}`,
        () => check(issue({ names: { ...asked, [field]: [] } }), asked, ca.certificate),
        `the certificate lacks ${asked[field].join(", ")}`,
      ],
    ),
  ])("%s", (_, found, wrong) => {
    expect(found()).toContain(wrong);
  });
});

describe("the wait for cert-manager", () => {
  const spec = tlsSpec(3, { rollout: { stepTimeout: "60s", issueTimeout: "10s" } });
  const name = certificateName(spec, "peer");

  /** A settled cluster with one thing changed; the error of the wait, or nothing. */
  async function wait(change: (scenario: Scenario, certificate: Record<string, never>) => void): Promise<string> {
    const scenario = new Scenario(spec);
    await scenario.until(spec);
    const { certificates } = scenario.world.certManager;
    const certificate = { ...certificates.get(name)! };
    certificates.set(name, certificate);
    change(scenario, certificate as unknown as Record<string, never>);
    return scenario.faults
      .run((ports) => awaitCertificates(ports, spec))
      .then(
        () => "issued",
        (error: Error) => error.message,
      );
  }

  const status = (condition: object) => (_: Scenario, certificate: { status?: object }) => {
    certificate.status = { conditions: [condition], revision: 1 };
  };

  test("all is well", async () => {
    expect(await wait(() => {})).toBe("issued");
  });

  test.each<[string, (scenario: Scenario, certificate: { status?: object }) => void, string]>([
    ["gone", ({ world }) => void world.certManager.certificates.delete(name), "it does not exist"],
    ["untouched", (_, certificate) => void delete certificate.status, "cert-manager has not looked at it yet"],
    [
      "Ready for an older generation",
      status({ type: "Ready", status: "True", observedGeneration: 0 }),
      "cert-manager has not seen its newest version yet",
    ],
    [
      "not Ready",
      status({ type: "Ready", status: "False", observedGeneration: 9, message: "Issuing certificate" }),
      "Issuing certificate",
    ],
    ["being issued", status({ type: "Issuing", status: "True", reason: "Renewing" }), "being issued (Renewing)"],
    ["failed", status({ type: "Issuing", status: "False", message: "denied" }), "could not be issued: denied"],
    [
      "without its Secret",
      ({ world }) => void world.certManager.secrets.delete(name),
      `Secret ${name} does not exist yet`,
    ],
    [
      "still another issuer's",
      ({ world }) => {
        const secret = structuredClone(world.certManager.secrets.get(name)!);
        secret.object.metadata.annotations!["cert-manager.io/issuer-name"] = "former";
        world.certManager.secrets.set(name, secret);
      },
      `Secret ${name}: still issued by Issuer former, not by Issuer ca-a`,
    ],
    ...[{}, undefined].map((annotations): [string, (scenario: Scenario) => void, string] => [
      `in a Secret that somebody else has written, ${annotations ? "with" : "without"} annotations`,
      ({ world }) => {
        const secret = structuredClone(world.certManager.secrets.get(name)!);
        Object.assign(secret.object.metadata, { annotations });
        world.certManager.secrets.set(name, secret);
      },
      `Secret ${name}: it names no issuer, so cert-manager has not written it`,
    ]),
    [
      "signed by a CA that the members don't trust",
      ({ world }) => void Object.assign(world.certManager.secrets.get(name)!, issueFor("other")),
      `Secret ${name}: the certificate does not chain to the trust bundle of the members`,
    ],
  ])("%s", async (_, change, reason) => {
    const message = await wait(change as never);
    expect(message).toContain(`waited 10 s for Certificate data/${name} to be issued: `);
    expect(message).toContain(reason);
  });

  test("the newest CertificateRequest tells why", async () => {
    const request = (revision: number, message: string): KubeObject => ({
      apiVersion: "cert-manager.io/v1",
      kind: "CertificateRequest",
      metadata: {
        name: `r${revision}`,
        annotations: {
          "cert-manager.io/certificate-name": name,
          "cert-manager.io/certificate-revision": String(revision),
        },
      },
      status: {
        conditions: [
          { type: "Approved", status: "True", message: "approved" },
          { type: "Ready", status: "False", reason: "Pending", message },
        ],
      },
    });
    const message = await wait((scenario, certificate) => {
      status({ type: "Issuing", status: "True", reason: "Renewing" })(scenario, certificate);
      scenario.world.requests.push(request(9, "old"), request(10, "issuer not found"));
    });
    expect(message).toMatch(/being issued \(Renewing\); Pending: issuer not found$/);
  });

  function issueFor(authority: string) {
    const certificate = spec.tls!.certificates.find(({ alias }) => alias === "peer")!;
    return Authority.root(authority).issue("db", { names: certificate });
  }
});

describe("certificates that cert-manager does not make", () => {
  async function demanded(change: (scenario: Scenario) => void, settled?: string): Promise<string> {
    const spec = ownCaSpec();
    const scenario = new Scenario(spec);
    await scenario.until(spec);
    change(scenario);
    return scenario.faults
      .run((ports) => demandCertificates(ports, spec, settled))
      .then(
        () => "all there",
        (error: Error) => error.message,
      );
  }

  test("are there before anything begins", async () => {
    expect(await demanded(() => {})).toBe("all there");
    const missing = await demanded(({ world }) => void world.certManager.secrets.delete("db-peer-own-cert"));
    expect(missing).toMatch(/^Secret data\/db-peer-own-cert: it does not exist.* Run the update again; with --refresh/);
  });

  test("and of CAs that stay trusted", async () => {
    expect(await demanded(() => {}, ca.certificate)).toMatch(/does not chain to the trust bundle of the members/);
  });
});
