import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { type EtcdSpec, parseSpec } from "../../config";
import { checkPrerequisites, previewTrust, Refusal } from "../../rollout";
import type { Right } from "../../rollout/ports";
import { repairRights } from "../../rollout/repair-evidence";
import { MANIFEST, neededRights } from "../../rollout/rights";
import { givenSpec, OWNER, ownCaSpec, plainSpec, Scenario, tlsSpec, type World } from "./world";

interface Manifest {
  kind: string;
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}

const path = join(__dirname, "../..", MANIFEST);
const objects = parseAllDocuments(readFileSync(path, "utf8")).map((document) => document.toJS() as Manifest);

/** What errors say more by, and what works without: nobody asks for it. */
const OPTIONAL = ["Role list events", "ClusterRole list issuers.cert-manager.io"];

const written = objects.flatMap(({ kind, rules = [] }) =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${kind} ${verb} ${nameOf(group, resource)}`)),
    ),
  ),
);

function nameOf(group: string, resource: string): string {
  return group ? `${resource}.${group}` : resource;
}

function asWritten({ group, resource, verb, namespace }: Right): string {
  return `${namespace === undefined ? "ClusterRole" : "Role"} ${verb} ${nameOf(group, resource)}`;
}

const issuer = (kind: string) => ({ tls: { issuerRef: { kind, name: "ca" } } });
const specs = [
  { workload: { kind: "StatefulSet" }, ...issuer("Issuer") },
  { workload: { kind: "PetSet" }, ...issuer("ClusterIssuer") },
  { tls: { ca: {} } },
  { tls: { secrets: { server: "a", peer: "b", client: "c" } } },
  {},
].map((config) => parseSpec({ createNamespace: false, ...config }).spec);

test("the manifest has every right that is asked for, and none that is not", () => {
  const asked = new Set(specs.flatMap((spec) => [...neededRights(spec), ...repairRights(spec)]).map(asWritten));
  expect([...written].sort()).toEqual([...asked, ...OPTIONAL].sort());
});

test("a namespace that the program makes takes rights in the whole cluster", () => {
  const spec = parseSpec({}).spec;
  expect(neededRights(spec)).toContainEqual({ group: "", resource: "namespaces", verb: "create" });
});

test("without TLS nothing of cert-manager's, and no Secret, is asked for", () => {
  const asked = neededRights(parseSpec({}).spec);
  expect(asked.filter(({ group, resource }) => group === "cert-manager.io" || resource === "secrets")).toEqual([]);
});

function forbidding(...rights: string[]) {
  return (world: World) => {
    for (const right of rights) world.forbidden.add(right);
  };
}

test("what is missing is told in one problem, the verbs of one resource together", async () => {
  const scenario = new Scenario(tlsSpec());
  forbidding("create pods/eviction", "get secrets", "delete secrets")(scenario.world);
  const found = await scenario.faults.run((ports) => checkPrerequisites(ports, tlsSpec()));
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    path: "etcd:namespace",
    rule: expect.stringMatching(/may not create pods\/eviction; get, delete secrets$/),
    mend: expect.stringContaining("stacks/rbac.yaml"),
  });
});

test("what is missing in the whole cluster is told as that", async () => {
  const spec = tlsSpec(3, { createNamespace: true });
  const scenario = new Scenario(spec);
  forbidding("create namespaces")(scenario.world);
  const [problem] = await scenario.faults.run((ports) => checkPrerequisites(ports, spec));
  expect(problem?.rule).toMatch(/may not create namespaces in the whole cluster$/);
});

test("a right that the spec has no use for may be missing", async () => {
  const scenario = new Scenario(plainSpec());
  forbidding("get secrets", "create petsets", "update certificates/status")(scenario.world);
  expect(await scenario.faults.run((ports) => checkPrerequisites(ports, plainSpec()))).toEqual([]);
});

test("the way out of TLS takes the rights of TLS", async () => {
  const scenario = new Scenario(tlsSpec());
  forbidding("delete secrets", "update certificates/status")(scenario.world);
  const [problem] = await scenario.faults.run((ports) => checkPrerequisites(ports, plainSpec(), tlsSpec()));
  expect(problem?.rule).toMatch(/may not delete secrets; update certificates\.cert-manager\.io\/status$/);
});

describe("a source of certificates besides cert-manager", () => {
  const sources: [string, EtcdSpec][] = [
    ["a CA of its own", ownCaSpec()],
    ["given Secrets", givenSpec()],
  ];

  test.each(sources)("%s: Secrets are written by us, and cert-manager is not asked", (_, spec) => {
    const asked = neededRights(spec);
    const verbs = asked.filter(({ resource }) => resource === "secrets").map(({ verb }) => verb);
    expect(verbs).toEqual(["get", "list", "delete", "create", "patch"]);
    expect(asked.filter(({ group }) => group === "cert-manager.io")).toEqual([]);
  });

  test.each(sources)("%s: without the right to write Secrets it is refused", async (_, spec) => {
    const scenario = new Scenario(spec);
    forbidding("patch secrets")(scenario.world);
    await expect(scenario.once(spec)).rejects.toThrow(/may not patch secrets/);
  });

  test("the way out of cert-manager takes its rights, the way out of a CA of its own that to write Secrets", async () => {
    const scenario = new Scenario(tlsSpec());
    forbidding("delete certificates", "create secrets")(scenario.world);
    const missing = async (next: EtcdSpec, former: EtcdSpec) => {
      const found = await scenario.faults.run((ports) => checkPrerequisites(ports, next, former));
      return found.map(({ rule }) => rule.split(" may not ")[1]);
    };
    expect(await missing(ownCaSpec(), tlsSpec())).toEqual(["create secrets; delete certificates.cert-manager.io"]);
    expect(await missing(tlsSpec(), ownCaSpec())).toEqual(["delete certificates.cert-manager.io; create secrets"]);
  });

  test("Secrets of other names are seeded by us: before anything has changed, that right is asked for", async () => {
    const scenario = new Scenario(tlsSpec());
    await scenario.until(tlsSpec());
    forbidding("create secrets")(scenario.world);
    const certificates = [{ alias: "peer", secretName: "peers" }];
    const spec = tlsSpec(3, { tls: { issuerRef: { name: "ca-b", kind: "Issuer" }, certificates } });
    await expect(scenario.once(spec)).rejects.toThrow(/may not create secrets/);
    scenario.verify();
    // Under the same CA nothing has to be seeded.
    const named = tlsSpec(3, { tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, certificates } });
    await scenario.once(named);
    scenario.checkReached(named);
    scenario.verify();
  });
});

test("the trust bundle's preview, which comes first, is refused as well", async () => {
  const scenario = new Scenario(tlsSpec());
  forbidding("patch configmaps")(scenario.world);
  const preview = scenario.faults.run((ports) => previewTrust(ports, { spec: tlsSpec(), owner: OWNER }));
  await expect(preview).rejects.toThrow(Refusal);
  await expect(preview).rejects.toThrow(/may not patch configmaps/);
});
