import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Aftermath, inspect, lookAfterwards } from "./aftermath";
import { fingerprints, readSerials, readTrust, type Serials } from "./certificates";
import type { Change } from "./change";
import { CredentialMirror } from "./credentials";
import { repository } from "./environment";
import type { Inspection } from "./etcd-writer";
import { type Leadership, leaderships } from "./leadership";
import { planLines, predictedLeader } from "./plan-lines";
import { NamespaceWatch } from "./pod-watch";
import { type Recorded, readRecords, recordedBetween } from "./record";
import { reportRow } from "./report";
import type { Scenario } from "./scenario";
import { type PodEvent, passes, restarts, type SecretEvent } from "./timeline";
import { Clients, RETRIES, type WriterResult } from "./writers";

/** Everything that was seen of a change. */
export interface Evidence {
  startedAt: number;
  preview: string;
  /** What the preview with differences printed, where it was asked for. */
  differences?: string;
  planned: string[];
  predictedLeader?: string;
  recorded: Recorded;
  writers: WriterResult[];
  /** Acknowledged writes that were not read back. */
  lost: string[];
  pods: PodEvent[];
  deletedSecrets: SecretEvent[];
  /** What is in the Secrets of the certificates. */
  serials: { before: Serials; after: Serials };
  /** CAs in the trust bundle afterwards, by fingerprint, under each of its keys; and those that are expected. */
  trust: { found: string[][]; expected?: string[] };
  /** Why the watches may have missed something. */
  gap?: string;
  leaderships: Leadership[];
  aftermath: Aftermath;
  inspection: Inspection;
}

export async function carryOut(scenario: Scenario, change: Change): Promise<Evidence> {
  const folder = join(scenario.folder, change.name);
  mkdirSync(folder, { recursive: true });
  const prefix = `e2e/${change.name}/`;
  await scenario.secrets();
  const before = { serials: await readSerials(scenario), records: await readRecords(scenario.stack) };
  await change.edit(scenario);
  const preview = (await scenario.stack.preview()).stdout;
  const differences = change.differs && (await scenario.stack.preview({ diff: true })).stdout;
  writeFileSync(join(folder, "preview.txt"), preview);
  if (change.document && process.env.UPDATE_DOCS) await documentPreview(scenario, change.document);

  const watch = new NamespaceWatch(scenario.kube, scenario.namespace);
  const mirror = new CredentialMirror(scenario, join(folder, "credentials"));
  const retry = { ...RETRIES, ...change.retry };
  const { members, user } = scenario;
  const settings = { members, credentials: mirror.files, retry, ...(user && { user }) };
  const schemes = { start: change.from, destination: change.to };
  const clients = new Clients(scenario.environment, { ...settings, ...schemes }, folder, prefix);
  try {
    await watch.start();
    await mirror.start();
    await clients.start();
    const startedAt = Date.now();
    const update = await scenario.stack.up({ skipPreview: true });
    writeFileSync(join(folder, "up.txt"), update.stdout);
    const recorded = recordedBetween(before.records, await readRecords(scenario.stack));
    // Under the same load: it must do nothing, and clients must notice nothing of that.
    const aftermath = await lookAfterwards(scenario);
    const { writers, samples } = await clients.stop();
    watch.stop();
    const { found, ...inspection } = await inspect(scenario, folder, prefix);
    const evidence: Evidence = {
      startedAt,
      preview,
      ...(differences && { differences }),
      planned: planLines(preview),
      ...(predictedLeader(preview) && { predictedLeader: predictedLeader(preview) }),
      recorded,
      writers,
      lost: writers.flatMap(({ acknowledgedKeys }) => acknowledgedKeys.filter((key) => !found.has(key))),
      pods: watch.pods,
      deletedSecrets: watch.deletedSecrets,
      ...(watch.gap && { gap: watch.gap }),
      serials: { before: before.serials, after: await readSerials(scenario) },
      trust: {
        found: await readTrust(scenario),
        ...(change.trusts && { expected: fingerprints(await change.trusts(scenario)) }),
      },
      leaderships: leaderships(samples),
      aftermath,
      inspection,
    };
    report(scenario, change, update.durationMs, evidence);
    return evidence;
  } finally {
    watch.stop();
    await mirror.stop();
    await clients.abandon();
    writeFileSync(join(folder, "pods.json"), JSON.stringify(watch.pods, undefined, 1));
  }
}

function report(scenario: Scenario, change: Change, updateMs: number, evidence: Evidence): void {
  const { recorded, writers, pods, aftermath } = evidence;
  reportRow({
    case: scenario.options.name,
    operation: change.name,
    updateMs,
    idleMs: aftermath.idleMs,
    walkMs: recorded.durationMs,
    floorMs: recorded.restarts.reduce((sum, restart) => sum + restart.durationMs, 0),
    passes: passes(restarts(pods)).length,
    restarts: recorded.restarts.length,
    writers: writers.map(({ name, acknowledged, failed, longestMs }) => ({ name, acknowledged, failed, longestMs })),
  });
}

/** Names that differ from run to run are replaced, so that the document changes only when the preview does. */
async function documentPreview(scenario: Scenario, name: string): Promise<void> {
  const { stdout } = await scenario.stack.preview({ diff: true });
  const path = join(repository, "docs", name);
  mkdirSync(dirname(path), { recursive: true });
  const stable = stdout
    .replaceAll(scenario.namespace, "etcd-example")
    .replace(/^Duration: .*\n?/m, "")
    .replace(/^ *\[provider=.*\]\n/gm, "");
  writeFileSync(path, stable);
}
