import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RetryPolicy, Scheme } from "../writer/config";
import { type Aftermath, inspect, lookAfterwards } from "./aftermath";
import { CredentialMirror } from "./credentials";
import { repository } from "./environment";
import type { Inspection } from "./etcd-writer";
import { type Leadership, leaderships } from "./leadership";
import { planLines, predictedLeader } from "./plan-lines";
import { NamespaceWatch } from "./pod-watch";
import { reportRow } from "./report";
import { CLUSTER, type Scenario } from "./scenario";
import type { PodEvent, SecretEvent } from "./timeline";
import { Clients, RETRIES, type WriterResult } from "./writers";

/** A change of a running cluster's TLS, made while clients are at work. */
export interface Change {
  /** Short, for folders and the report: `add`. */
  name: string;
  /** How clients get in before and after. */
  from: Scheme;
  to: Scheme;
  edit: (scenario: Scenario) => Promise<void>;
  retry?: Partial<RetryPolicy>;
  /** Where the preview with its differences is kept, below docs/, when UPDATE_DOCS is set. */
  document?: string;
}

/** The stack output of that name. */
export interface LastOperation {
  operation: string;
  steps: string[];
  durationMs: number;
  restarts: { member: string; pass: number; durationMs: number; wasLeader: boolean }[];
}

/** Everything that was seen of a change. */
export interface Evidence {
  startedAt: number;
  planned: string[];
  predictedLeader?: string;
  lastOperation: LastOperation;
  writers: WriterResult[];
  /** Acknowledged writes that were not read back. */
  lost: string[];
  pods: PodEvent[];
  deletedSecrets: SecretEvent[];
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
  await change.edit(scenario);
  const preview = (await scenario.stack.preview()).stdout;
  writeFileSync(join(folder, "preview.txt"), preview);
  if (change.document && process.env.UPDATE_DOCS) await documentPreview(scenario, change.document);

  const watch = new NamespaceWatch(scenario.kube, scenario.namespace);
  const mirror = new CredentialMirror(scenario.kube, scenario.namespace, CLUSTER, join(folder, "credentials"));
  const retry = { ...RETRIES, ...change.retry };
  const settings = { members: scenario.members, credentials: mirror.files, retry };
  const schemes = { start: change.from, destination: change.to };
  const clients = new Clients(scenario.environment, { ...settings, ...schemes }, folder, prefix);
  try {
    await watch.start();
    await mirror.start();
    await clients.start();
    const startedAt = Date.now();
    const update = await scenario.stack.up();
    writeFileSync(join(folder, "up.txt"), update.stdout);
    const lastOperation = (await scenario.stack.outputs<{ lastOperation: LastOperation }>()).lastOperation;
    // Under the same load: it must do nothing, and clients must notice nothing of that.
    const aftermath = await lookAfterwards(scenario);
    const { writers, samples } = await clients.stop();
    watch.stop();
    const { found, ...inspection } = await inspect(scenario, folder, prefix);
    const evidence: Evidence = {
      startedAt,
      planned: planLines(preview),
      ...(predictedLeader(preview) && { predictedLeader: predictedLeader(preview) }),
      lastOperation,
      writers,
      lost: writers.flatMap(({ acknowledgedKeys }) => acknowledgedKeys.filter((key) => !found.has(key))),
      pods: watch.pods,
      deletedSecrets: watch.deletedSecrets,
      ...(watch.gap && { gap: watch.gap }),
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

function report(scenario: Scenario, change: Change, updateMs: number, { lastOperation, writers }: Evidence): void {
  reportRow({
    case: scenario.options.name,
    operation: change.name,
    updateMs,
    walkMs: lastOperation.durationMs,
    floorMs: lastOperation.restarts.reduce((sum, restart) => sum + restart.durationMs, 0),
    restarts: lastOperation.restarts.length,
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
