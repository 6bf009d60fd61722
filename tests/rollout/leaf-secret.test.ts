import { renderTrustBundle } from "../../manifests";
import { differs, type LeafSecret, writeLeaf, writeOwnLeaf } from "../../rollout/leaf-secret";
import { ownCaSpec, Scenario } from "./world";
import { authority } from "./world/cert-manager";
import { Authority } from "./world/pki";

const spec = ownCaSpec();
const ca = authority("own");
const leaf = (material: Partial<LeafSecret["material"]> = {}): LeafSecret => ({
  secretName: "db-peer-own-cert",
  madeFor: "db-peer-cert",
  material: { ...ca.issue("db"), ca: ca.certificate, ...material },
});

function world(bundle?: string): Scenario {
  const scenario = new Scenario(spec);
  if (bundle) scenario.world.configMaps.set("db-trust-bundle", renderTrustBundle(spec, bundle));
  return scenario;
}

test("a leaf is written in place, in cert-manager's layout, and says what it was made for", async () => {
  const scenario = world(ca.certificate);
  const first = leaf();
  await scenario.faults.run((ports) => writeOwnLeaf(ports, spec, first));
  const { object, ...material } = scenario.world.certManager.secrets.get("db-peer-own-cert")!;
  expect(material).toEqual(first.material);
  expect(object).toMatchObject({
    type: "kubernetes.io/tls",
    metadata: {
      annotations: { "pulumi-etcd/made-for": "db-peer-cert" },
      labels: { "app.kubernetes.io/component": "certificate" },
    },
  });
});

test.each([
  ["of another CA", authority("another").certificate],
  ["before there is a trust bundle", undefined],
])("a leaf %s is not written: whoever served it would be cut off", async (_, bundle) => {
  const scenario = world(bundle);
  const written = scenario.faults.run((ports) => writeOwnLeaf(ports, spec, leaf()));
  await expect(written).rejects.toThrow(
    /^Secret data\/db-peer-own-cert was not written: the members do not trust .*without --target or --exclude$/,
  );
  expect(scenario.world.certManager.secrets.size).toBe(0);
});

test("a leaf of a CA that has expired is not written either", async () => {
  const old = Authority.root("own", { notAfter: new Date("2021-01-01") });
  const written = world(old.certificate).faults.run((ports) => writeOwnLeaf(ports, spec, leaf(old.issue("db"))));
  await expect(written).rejects.toThrow(/was not written: the members would refuse it: CN=own .* expired on Jan/);
});

test.each<[string, Partial<LeafSecret["material"]>, boolean]>([
  ["nothing", {}, false],
  ["the certificate", { certificate: "other" }, true],
  ["the key", { key: "other" }, true],
  ["the CA beside it", { ca: "other" }, true],
])("differs in %s", async (_, change, expected) => {
  const scenario = world();
  const first = leaf();
  await scenario.faults.run((ports) => writeLeaf(ports, spec, first));
  const wanted = { ...first, material: { ...first.material, ...change } };
  expect(await scenario.faults.run((ports) => differs(ports, spec, wanted))).toBe(expected);
});

test("differs where it is missing; no CA and an empty one are the same", async () => {
  const scenario = world();
  const { ca: _, ...material } = leaf().material;
  const bare = { ...leaf(), material };
  const differing = () => scenario.faults.run((ports) => differs(ports, spec, bare));
  expect(await differing()).toBe(true);
  await scenario.faults.run((ports) => writeLeaf(ports, spec, bare));
  expect(await differing()).toBe(false);
});
