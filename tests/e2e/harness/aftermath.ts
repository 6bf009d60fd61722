import { readFileSync } from "node:fs";
import { join } from "node:path";
import { normalSerial, type Source } from "./certificates";
import { fetchCredentials } from "./credentials";
import { type Inspection, inspectCluster, type Served } from "./etcd-writer";
import { CLUSTER, type Scenario } from "./scenario";
import { type Finding, findSecrets } from "./secret-scan";

/** What is true once an update is over. */
export interface Aftermath {
  /** What a preview says that must have nothing to do; undefined when it has nothing. */
  previewTrouble?: string;
  /** As above, of the further updates. */
  updateTrouble?: string;
  /** What a further update took: the least that any update takes. */
  idleMs: number;
  /** Where the certificates came from. */
  source: Source;
  /** Pods before and after the further updates. */
  uids: { before: string[]; after: string[] };
  revisions: string[];
  updateRevision: string;
  /** Secrets in the stack's state, and in what its previews and updates have printed. */
  findings: (Finding & { where: string })[];
  /** What was looked for in the state, by name. */
  sought: string[];
  /** Names of Secrets, ConfigMaps and Certificates that belong to TLS. */
  tlsObjects: string[];
}

/** Updates afterwards that must change nothing; the long run has the time for more of them. */
const FURTHER_UPS = process.env.PULUMI_ETCD_E2E_FULL ? 3 : 1;

/** Looks at everything that must hold after an update, whatever it was. */
export async function lookAfterwards(scenario: Scenario, furtherUps = FURTHER_UPS): Promise<Aftermath> {
  const { stack } = scenario;
  const before = await uids(scenario);
  const previewTrouble = await trouble(() => stack.preview({ expectNoChanges: true }));
  const started = Date.now();
  const updateTrouble = await trouble(async () => {
    // That preview has just been seen, empty.
    for (let i = 0; i < furtherUps; i++) await stack.up({ skipPreview: true, expectNoChanges: true });
  });
  const idleMs = (Date.now() - started) / furtherUps;
  const after = await uids(scenario);
  const secrets = await scenario.secrets();
  return {
    ...(previewTrouble && { previewTrouble }),
    ...(updateTrouble && { updateTrouble }),
    idleMs,
    source: scenario.source,
    uids: { before, after },
    ...(await revisions(scenario)),
    findings: [
      ...findSecrets(await stack.exportState(), secrets).map(within("state")),
      ...findSecrets(stack.printed, secrets).map(within("output")),
    ],
    sought: secrets.map((secret) => secret.name),
    tlsObjects: await tlsObjects(scenario),
  };
}

/** Looks at the cluster from outside, with the files that a client has now; reads back the keys below the prefix. */
export async function inspect(
  scenario: Scenario,
  folder: string,
  prefix: string,
): Promise<Inspection & { found: Set<string> }> {
  const credentials = await fetchCredentials(scenario, join(folder, "inspect"));
  const keysFile = join(folder, "keys");
  const { members, user } = scenario;
  const settings = { members, credentials, prefix, keysFile, ...(user && { user }) };
  const inspection = await inspectCluster(scenario.environment, settings);
  return { ...inspection, found: new Set(prefix ? readFileSync(keysFile, "utf8").split("\n") : []) };
}

/** The certificates that members show now. */
export async function fetchServed(scenario: Scenario): Promise<Served[]> {
  const { served } = await inspect(scenario, scenario.folder, "");
  return served.map(({ serial, ...rest }) => ({ ...rest, ...(serial && { serial: normalSerial(serial) }) }));
}

function within(where: string) {
  return (finding: Finding) => ({ ...finding, where });
}

async function trouble(run: () => Promise<unknown>): Promise<string | undefined> {
  return run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

async function uids(scenario: Scenario): Promise<string[]> {
  return (await scenario.pods()).map((pod) => `${pod.name} ${pod.uid}`).sort();
}

async function revisions(scenario: Scenario): Promise<Pick<Aftermath, "revisions" | "updateRevision">> {
  const workload = await scenario.kube.get("apps/v1", "StatefulSet", CLUSTER, scenario.namespace);
  const status = workload?.status as { updateRevision?: string } | undefined;
  return {
    revisions: (await scenario.pods()).map((pod) => pod.revision),
    updateRevision: status?.updateRevision ?? "",
  };
}

async function tlsObjects({ kube, namespace }: Scenario): Promise<string[]> {
  const kinds = [
    ["v1", "Secret"],
    ["v1", "ConfigMap"],
    ["cert-manager.io/v1", "Certificate"],
  ] as const;
  const found = await Promise.all(
    kinds.map(async ([apiVersion, kind]) =>
      (await kube.list(apiVersion, kind, namespace)).map(({ metadata }) => `${kind} ${metadata.name}`),
    ),
  );
  return found.flat().filter((name) => name.includes(` ${CLUSTER}-`) && !name.includes(" etcd-ca"));
}
