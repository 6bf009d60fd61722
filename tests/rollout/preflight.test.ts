import type { EtcdSpec } from "../../config";
import { checkPrerequisites, issuersOf } from "../../rollout";
import { checkOwnership } from "../../rollout/preflight";
import { OWNER, plainSpec, Scenario, tlsSpec, type World } from "./world";

async function problems(spec: EtcdSpec, change: (world: World) => void = () => {}) {
  const scenario = new Scenario(spec);
  change(scenario.world);
  return scenario.faults.run((ports) => checkPrerequisites(ports, spec));
}

const issuers = (world: World) => world.certManager.issuers;

test("a cluster that has everything", async () => {
  expect(await problems(tlsSpec())).toEqual([]);
  expect(await problems(plainSpec())).toEqual([]);
});

test("without TLS, cert-manager is not asked for", async () => {
  const change = (world: World) => {
    world.served.delete("cert-manager.io/v1 Certificate");
    issuers(world).clear();
  };
  expect(await problems(plainSpec(), change)).toEqual([]);
});

test.each<[string, (world: World) => void, { path: string; rule: string; mend: string }]>([
  [
    "cert-manager is not installed",
    (world) => void world.served.delete("cert-manager.io/v1 Certificate"),
    { path: "etcd:tls.issuerRef", rule: "cert-manager is not installed", mend: "Install cert-manager" },
  ],
  [
    "the issuer does not exist",
    (world) => issuers(world).clear(),
    { path: "etcd:tls.issuerRef.name", rule: "Issuer data/ca-a does not exist", mend: "Make it first" },
  ],
  [
    "the name is a ClusterIssuer's",
    (world) => {
      issuers(world).clear();
      world.certManager.addIssuer("ClusterIssuer", "ca-a");
    },
    { path: "etcd:tls.issuerRef.kind", rule: "but there is a ClusterIssuer of that name", mend: "to ClusterIssuer" },
  ],
  [
    "the issuer is in another namespace",
    (world) => {
      issuers(world).clear();
      world.issuersElsewhere.push({ name: "ca-a", namespace: "web" });
    },
    {
      path: "etcd:tls.issuerRef.name",
      rule: "is in namespace web, where certificates of data cannot",
      mend: "own namespace",
    },
  ],
  [
    "the issuer is not Ready",
    (world) => world.certManager.addIssuer("Issuer", "ca-a", { ready: false, message: "no such Secret" }),
    { path: "etcd:tls.issuerRef.name", rule: "Issuer data/ca-a is not Ready: no such Secret", mend: "mend it first" },
  ],
  [
    "the issuer is self-signed",
    (world) => world.certManager.addIssuer("Issuer", "ca-a", { type: "selfSigned" }),
    { path: "etcd:tls.issuerRef.name", rule: "is self-signed", mend: "a CA issuer over that certificate" },
  ],
  [
    "the issuer is an ACME one",
    (world) => world.certManager.addIssuer("Issuer", "ca-a", { type: "acme" }),
    { path: "etcd:tls.issuerRef.name", rule: "is an ACME issuer", mend: "a CA, Vault or other private issuer" },
  ],
])("%s", async (_, change, { path, rule, mend }) => {
  const found = await problems(tlsSpec(), change as (world: World) => void);
  expect(found).toEqual([
    expect.objectContaining({ path, rule: expect.stringContaining(rule), mend: expect.stringContaining(mend) }),
  ]);
});

test("a ClusterIssuer is named without a namespace", async () => {
  const spec = tlsSpec(3, { tls: { issuerRef: { name: "ca-c", kind: "ClusterIssuer" } } });
  expect((await problems(spec))[0]?.rule).toBe("ClusterIssuer ca-c does not exist");
});

test("a name that is an Issuer's where a ClusterIssuer is asked for", async () => {
  const spec = tlsSpec(3, { tls: { issuerRef: { name: "ca-a", kind: "ClusterIssuer" } } });
  expect(await problems(spec)).toEqual([
    expect.objectContaining({
      path: "etcd:tls.issuerRef.kind",
      rule: "ClusterIssuer ca-a does not exist, but there is an Issuer of that name",
      mend: "Set etcd:tls.issuerRef.kind to Issuer",
    }),
  ]);
});

test("issuers of other names elsewhere are of no interest", async () => {
  const found = await problems(tlsSpec(), (world) => {
    issuers(world).clear();
    world.issuersElsewhere.push({ name: "another", namespace: "web" });
  });
  expect(found.map(({ rule }) => rule)).toEqual(["Issuer data/ca-a does not exist"]);
});

test("PetSets that the cluster does not know", async () => {
  const found = await problems(plainSpec(3, { workload: "PetSet" }), (world) =>
    world.served.delete("apps.k8s.appscode.com/v1 PetSet"),
  );
  expect(found).toEqual([expect.objectContaining({ path: "etcd:workload", value: "PetSet" })]);
});

test("an API server that does not answer is an error, not a problem", async () => {
  const scenario = new Scenario(plainSpec());
  scenario.disturb([{ kind: "unreachable", change: 0, call: 0, choice: 10 }]);
  await expect(scenario.faults.run((ports) => checkPrerequisites(ports, plainSpec()))).rejects.toThrow("ECONNREFUSED");
});

test("an issuer of another group is not judged", async () => {
  const issuerRef = { name: "vault", kind: "PCAIssuer", apiGroup: "awspca.cert-manager.io" };
  const spec = structuredClone(tlsSpec());
  spec.tls!.issuerRef = issuerRef;
  for (const certificate of spec.tls!.certificates) certificate.issuerRef = issuerRef;
  expect(await problems(spec)).toEqual([]);
});

test("every issuer that certificates name is checked, once, under its own path", async () => {
  const certificates = [{ alias: "peer", issuerRef: { name: "ca-peer", kind: "Issuer" } }];
  const spec = tlsSpec(3, { tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, certificates } });
  expect(
    issuersOf(spec)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["ca-a", "ca-peer"]);
  const found = await problems(spec);
  expect(found.map(({ path }) => path)).toEqual(["etcd:tls.certificates[peer].issuerRef.name"]);
});

describe("whose workload it is", () => {
  const live = async (change: (world: World) => void = () => {}) => {
    const scenario = new Scenario(plainSpec(3));
    await scenario.until(plainSpec(3));
    change(scenario.world);
    return scenario.world.workload!.live();
  };

  test("ours", async () => {
    expect(checkOwnership(plainSpec(3), OWNER, await live())).toEqual([]);
  });

  test("another program's", async () => {
    const [problem] = checkOwnership(plainSpec(3), "organization/other/stack", await live());
    expect(problem).toMatchObject({ path: "etcd:name", value: "db" });
    expect(problem?.rule).toBe(`StatefulSet data/db exists already and belongs to ${OWNER}`);
  });

  test("nobody's that we know", async () => {
    const unowned = { ...(await live()), annotations: {} };
    expect(checkOwnership(plainSpec(3), OWNER, unowned)[0]?.rule).toContain("it carries no owner");
  });

  test("another number of members", async () => {
    const [problem] = checkOwnership(plainSpec(5), OWNER, await live());
    expect(problem).toMatchObject({ path: "etcd:replicas", value: 5 });
    expect(problem?.rule).toContain("the running cluster has 3 members");
  });
});
