import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { parseSpec } from "../../config";
import { checkPrerequisites, previewTrust, Refusal } from "../../rollout";
import type { Right } from "../../rollout/ports";
import { MANIFEST, neededRights } from "../../rollout/rights";
import { OWNER, plainSpec, Scenario, tlsSpec, type World } from "./world";

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
  {},
].map((config) => parseSpec({ createNamespace: false, ...config }).spec);

test("the manifest has every right that is asked for, and none that is not", () => {
  const asked = new Set(specs.flatMap(neededRights).map(asWritten));
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

test("the trust bundle's preview, which comes first, is refused as well", async () => {
  const scenario = new Scenario(tlsSpec());
  forbidding("patch configmaps")(scenario.world);
  const preview = scenario.faults.run((ports) => previewTrust(ports, { spec: tlsSpec(), owner: OWNER }));
  await expect(preview).rejects.toThrow(Refusal);
  await expect(preview).rejects.toThrow(/may not patch configmaps/);
});
