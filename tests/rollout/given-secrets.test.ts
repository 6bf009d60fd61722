import { memberHost } from "../../config";
import { previewTrust } from "../../rollout";
import { checkGivenSecrets, copyGiven, wantedCopy } from "../../rollout/given-secrets";
import { givenSpec, giveSecret, OWNER, Scenario, tlsSpec } from "./world";
import { authority } from "./world/cert-manager";
import { Authority, type IssueOptions } from "./world/pki";

const spec = givenSpec();
const { server, peer, client } = spec.tls!.secrets as Record<"server" | "peer" | "client", string>;
const ca = authority("given");
const members = [0, 1, 2].map((ordinal) => memberHost(spec, ordinal));
const service = "db.data.svc.cluster.local";
const SERVER_AUTH = "serverAuth";
const CLIENT_AUTH = "clientAuth";

/** Somebody has made all three Secrets, as they should be. */
function world(): Scenario {
  const scenario = new Scenario(spec);
  for (const name of [server, peer, client]) giveSecret(scenario.world, name, { ca: "given" });
  return scenario;
}

function leaf(options: IssueOptions = {}, from = ca) {
  const names = { dnsNames: [...members, service] };
  return { ...from.issue("db", { names, ...options }), ca: from.certificate };
}

async function problems(change: (scenario: Scenario) => void) {
  const scenario = world();
  change(scenario);
  return scenario.faults.run((ports) => checkGivenSecrets(ports, spec));
}

const holds = (name: string, material: { certificate: string; key: string; ca: string }) => (scenario: Scenario) =>
  scenario.world.certManager.giveSecret(name, material);

test("Secrets that are as they should be", async () => {
  expect(await problems(() => {})).toEqual([]);
});

test.each<[string, string, () => (scenario: Scenario) => void, RegExp]>([
  [
    "is not there",
    "server",
    () => (scenario) => scenario.world.certManager.secrets.delete(server),
    /^Secret data\/given-given-server does not exist, or has no tls\.crt and tls\.key\. Make it with tls\.crt, tls\.key/,
  ],
  ["holds no certificate", "server", () => holds(server, { ...leaf(), certificate: "?" }), /has no certificate in tls/],
  [
    "holds another's key",
    "peer",
    () => holds(peer, { ...leaf(), key: leaf().key }),
    /holds a key that does not belong to its certificate\. Write both from one issue/,
  ],
  [
    "holds a certificate that has ended",
    "client",
    () => holds(client, leaf({ notAfter: new Date("2021-01-01") })),
    /holds a certificate that expired on Jan {2}1 00:00:00 2021 GMT\. Renew it first/,
  ],
  [
    "holds a certificate that has not begun",
    "client",
    () => holds(client, leaf({ notBefore: new Date("2098-01-01") })),
    /is not valid before Jan {2}1 00:00:00 2098 GMT\. Wait until then/,
  ],
  [
    "lacks a member",
    "server",
    () => holds(server, leaf({ names: { dnsNames: [...members.slice(1), service] } })),
    /does not name db-0\.db-pods\.data\.svc\.cluster\.local\. Issue it with these DNS names/,
  ],
  [
    "lacks the Service that clients dial",
    "server",
    () => holds(server, leaf({ names: { dnsNames: members } })),
    /does not name db\.data\.svc\.cluster\.local\./,
  ],
  [
    "is for servers only, where members dial each other",
    "peer",
    () => holds(peer, leaf({ usages: [SERVER_AUTH] })),
    /without the extended key usage client auth\. Issue it with both/,
  ],
  [
    "is for servers only, where a client shows it",
    "client",
    () => holds(client, leaf({ usages: [SERVER_AUTH] })),
    /without the extended key usage client auth/,
  ],
  [
    "comes without its CA",
    "peer",
    () => holds(peer, { ...leaf(), ca: "" }),
    /chains neither to its own ca\.crt nor to etcd:tls\.trustedCAs: CN=db .* is signed by CN=given.*Write the CA that signed it/,
  ],
  [
    "comes with another CA",
    "peer",
    () => holds(peer, { ...leaf(), ca: authority("another").certificate }),
    /chains neither to its own ca\.crt/,
  ],
  [
    "comes with a CA that has expired",
    "server",
    () => holds(server, leaf({}, Authority.root("old", { notAfter: new Date("2021-01-01") }))),
    /whose chain etcd refuses: CN=old \(serial 01, SHA-256 \S+\) expired on Jan {2}1 00:00:00 2021 GMT\. Make that certificate/,
  ],
  [
    "comes with a CA that is none",
    "peer",
    () => holds(peer, leaf({}, Authority.root("none", { unconstrained: true }))),
    /whose chain etcd refuses: CN=none .* is no CA \(BasicConstraints CA:TRUE is missing\)/,
  ],
  [
    "comes with an intermediate that is for servers only, where members dial each other",
    "peer",
    () => {
      const middle = ca.intermediate("middle", { usages: [SERVER_AUTH] });
      const { certificate, ...rest } = leaf({}, middle);
      return holds(peer, { ...rest, certificate: certificate + middle.certificate, ca: ca.certificate });
    },
    /whose chain etcd refuses: CN=middle .* is not for client auth/,
  ],
])("a Secret that %s: its alias, its name, the rule and the mend", async (_, alias, change, text) => {
  const found = await problems(change());
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ path: `etcd:tls.secrets.${alias}`, value: `given-given-${alias}` });
  expect(`${found[0]?.rule}. ${found[0]?.mend}`).toMatch(text);
});

test("a wildcard does not do for peers, who would depend on reverse DNS", async () => {
  const [problem] = await problems(holds(peer, leaf({ names: { dnsNames: ["*.db-pods.data.svc.cluster.local"] } })));
  expect(problem).toMatchObject({
    path: "etcd:tls.secrets.peer",
    rule: expect.stringContaining("does not name db-0.db-pods.data.svc.cluster.local"),
  });
});

test.each<[string, string, IssueOptions]>([
  [
    "a wildcard covers the members for clients",
    server,
    { names: { dnsNames: ["db.data.svc.cluster.local", "*.db-pods.data.svc.cluster.local"] } },
  ],
  ["a client needs no names", client, { names: {} }],
  ["a client needs no server auth", client, { usages: [CLIENT_AUTH] }],
  ["both usages", server, { usages: [SERVER_AUTH, CLIENT_AUTH] }],
])("accepted: %s", async (_, name, options) => {
  expect(await problems(holds(name, leaf(options)))).toEqual([]);
});

test("a key that no chosen suite of TLS 1.2 goes with is refused", async () => {
  const suites = { cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], secrets: { ...spec.tls!.secrets } };
  const bound = tlsSpec(3, { tls: suites, extraArgs: { "tls-max-version": "TLS1.2" } });
  const found = await world().faults.run((ports) => checkGivenSecrets(ports, bound));
  expect(found.map(({ path }) => path)).toEqual(["etcd:tls.secrets.server", "etcd:tls.secrets.peer"]);
  expect(found[0]?.rule).toMatch(/holds a certificate that has a key of ECDSA, .* go with RSA keys alone/);
  const free = tlsSpec(3, { tls: suites });
  expect(await world().faults.run((ports) => checkGivenSecrets(ports, free))).toEqual([]);
});

test("a CA that comes at the end of the chain does as well", async () => {
  const { certificate, key } = leaf();
  expect(await problems(holds(peer, { certificate: certificate + ca.certificate, key, ca: "" }))).toEqual([]);
});

test("every problem is told at once, and refuses the trust bundle's preview, which comes first", async () => {
  const scenario = new Scenario(spec);
  const preview = scenario.faults.run((ports) => previewTrust(ports, { spec, owner: OWNER }));
  await expect(preview).rejects.toThrow(/tls\.secrets\.server.*tls\.secrets\.peer.*tls\.secrets\.client/s);
});

test("a Secret that the stack has made itself is none that somebody else maintains", async () => {
  const labels = { "app.kubernetes.io/managed-by": "pulumi-etcd", "app.kubernetes.io/name": "etcd" };
  const made = (instance: string) => (scenario: Scenario) => {
    const secret = scenario.world.certManager.secrets.get(server)!;
    const metadata = { ...secret.object.metadata, labels: { ...labels, "app.kubernetes.io/instance": instance } };
    scenario.world.certManager.secrets.set(server, { ...secret, object: { ...secret.object, metadata } });
  };
  expect(await problems(made("db"))).toEqual([
    expect.objectContaining({
      path: "etcd:tls.secrets.server",
      rule: expect.stringContaining("is one that this stack makes itself"),
    }),
  ]);
  expect(await problems(made("another"))).toEqual([]);
});

describe("copies", () => {
  test("hold the leaf, its key, and its CA even where that came in the chain", async () => {
    const scenario = world();
    const { certificate, key } = leaf();
    holds(peer, { certificate: certificate + ca.certificate, key, ca: "" })(scenario);
    const copy = await scenario.faults.run((ports) => wantedCopy(ports, spec, "peer"));
    expect(copy).toMatchObject({ secretName: "db-peer-copied-cert", madeFor: "db-peer-cert", material: { key } });
    expect(copy.material.ca?.trim()).toBe(ca.certificate.trim());
  });

  test("of what is not there are an error that names the key", async () => {
    const scenario = new Scenario(spec);
    const copy = scenario.faults.run((ports) => wantedCopy(ports, spec, "peer"));
    await expect(copy).rejects.toThrow("etcd:tls.secrets.peer: Secret data/given-given-peer does not exist");
  });

  test("are made of no leaf that the members do not trust yet", async () => {
    const scenario = new Scenario(spec);
    await scenario.until(spec);
    const before = scenario.world.certManager.secrets.get("db-peer-copied-cert");
    giveSecret(scenario.world, peer, { ca: "given-next" });
    const copy = scenario.faults.run((ports) => copyGiven(ports, spec, "peer"));
    await expect(copy).rejects.toThrow(/given-given-peer was not copied: .* does not chain to the trust bundle/);
    expect(scenario.world.certManager.secrets.get("db-peer-copied-cert")).toBe(before);
    scenario.verify();
  });

  test("are made of no leaf that the members trust and would refuse", async () => {
    const scenario = new Scenario(spec);
    await scenario.until(spec);
    const before = scenario.world.certManager.secrets.get("db-peer-copied-cert");
    const none = ca.intermediate("none", { intermediate: false });
    const { certificate, key } = leaf({}, none);
    holds(peer, { certificate: certificate + none.certificate, key, ca: ca.certificate })(scenario);
    const copy = scenario.faults.run((ports) => copyGiven(ports, spec, "peer"));
    await expect(copy).rejects.toThrow(/was not copied: etcd refuses the certificate's chain: CN=none .* is no CA/);
    expect(scenario.world.certManager.secrets.get("db-peer-copied-cert")).toBe(before);
  });
});
