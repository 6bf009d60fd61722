import type { ConfigProblem, EtcdSpec } from "../config/types";
import { finalStage, renderWorkload, trustRevision } from "../manifests";
import { union, writeBundle } from "./bundle";
import { checkMaterial, purposesIn } from "./certificates";
import { carryOut, type Outcome, type Preview, previewRollout } from "./engine";
import { evaluateGate } from "./gate";
import { Journal } from "./journal";
import { withLease } from "./lease";
import { observe } from "./observe";
import type { HostsPorts, Ports } from "./ports";
import { checkOwnership } from "./preflight";
import { Refusal } from "./problems";
import { unservableKey } from "./served-key";
import { awaitServing } from "./serving";
import { previewTrust, widenTrust } from "./trust";
import { waitFor } from "./wait";

/** A certificate with what came after it in its chain, and its key; PEM. */
export interface HandedLeaf {
  certificate: string;
  key: string;
}

/** What the user asked for on hosts, and with which certificates. */
export interface HostsRequest {
  spec: EtcdSpec;
  owner: string;
  /** Who carries this out; see `RolloutRequest`. */
  holder?: string;
  /** CA certificates that members accept in the end, PEM. Absent: plaintext. */
  ca?: string;
  /** By the folder on the hosts: `server`, and `peer` and `client` where they have certificates of their own. */
  leaves: Record<string, HandedLeaf>;
}

/** The last update: its spec, and the CAs that it came with. */
export type EarlierHosts = Pick<HostsRequest, "spec" | "ca">;

/** An update that was broken off while the cluster came into being is finished as it was begun. */
const UNFINISHED = "what else there is to do is planned once these serve";

const FOLDERS = ["server", "peer", "client"] as const;

/** What an update of hosts would do; changes nothing. Throws `Refusal`, or `HostError` where a host is not reached. */
export async function previewHosts(ports: HostsPorts, request: HostsRequest, earlier?: EarlierHosts): Promise<Preview> {
  const problems = await handedProblems(ports, request);
  if (problems.length > 0) throw new Refusal(problems);
  const { spec } = withCas(request);
  const rollout = { spec, owner: request.owner };
  await ports.kube.ping();
  const workload = await ports.kube.workload(spec);
  if (!workload) return previewInstall(ports, spec);
  const missing = await missingMembers(ports, spec);
  if (missing.length > 0) return { operation: "create", plan: missing.map(installStep), notes: [UNFINISHED] };
  const trust = spec.tls ? await previewTrust(ports, rollout) : undefined;
  const { operation, plan, notes } = await previewRollout(ports, rollout, earlier && withCas(earlier).spec);
  const leaves = await leavesToInstall(ports, request);
  return {
    operation: operation === "none" && leaves.length > 0 ? "reissue" : operation,
    plan: [...(trust?.plan ?? []), ...leaves.map(leafStep), ...plan],
    notes: [...(trust?.notes ?? []), ...notes],
  };
}

async function previewInstall(ports: HostsPorts, spec: EtcdSpec): Promise<Preview> {
  await refuseOccupied(ports, spec);
  return { operation: "create", plan: names(spec).map(installStep), notes: [] };
}

/** Carries the spec out on the hosts: installs what is not there, and walks what runs. One update at a time. */
export function carryOutHosts(ports: HostsPorts, request: HostsRequest, earlier?: EarlierHosts): Promise<Outcome> {
  return withLease(ports, request.spec, request.holder, (guarded) => carryOutAlone(guarded, request, earlier));
}

async function carryOutAlone(ports: HostsPorts, request: HostsRequest, earlier?: EarlierHosts): Promise<Outcome> {
  const { spec } = withCas(request);
  const { owner } = request;
  const journal = new Journal(ports);
  // Time has gone by since the preview.
  const problems = await handedProblems(ports, request);
  if (problems.length > 0) throw new Refusal(problems);
  await install(ports, request, spec, journal);
  const trust = spec.tls ? await widenTrust(ports, { spec, owner }) : undefined;
  await installLeaves(ports, request, spec, journal);
  const settled = trust?.settled;
  const outcome = await carryOut(ports, { spec, owner, ...(settled && { settled }) }, earlier && withCas(earlier).spec);
  await removeUnused(ports, spec);
  const own = journal.record();
  const installed = own.steps.filter((step) => step.startsWith(installStep("")));
  return {
    ...outcome,
    // New certificates of a CA that is trusted already are no difference of the spec.
    operation: outcome.operation === "none" && own.steps.length > installed.length ? "reissue" : outcome.operation,
    steps: [
      ...installed,
      ...(trust?.steps ?? []),
      ...own.steps.filter((step) => !installed.includes(step)),
      ...outcome.steps,
    ],
    restarts: [...(trust?.restarts ?? []), ...outcome.restarts],
    durationMs: own.durationMs,
  };
}

/** Brings the first template to every host, and starts members that an update before this one did not come to. */
async function install(ports: HostsPorts, request: HostsRequest, spec: EtcdSpec, journal: Journal): Promise<void> {
  const workload = await ports.kube.workload(spec);
  if (workload) {
    const foreign = checkOwnership(spec, request.owner, workload);
    if (foreign.length > 0) throw new Refusal(foreign);
  } else {
    await refuseOccupied(ports, spec);
    await writeFirst(ports, request, spec);
  }
  const started = await ports.hosts.startMissing();
  if (started.length === 0) return;
  const { view } = await observe(ports, spec);
  const deadlineMs = spec.rollout.stepTimeoutSeconds * 1000;
  await waitFor({ clock: ports.clock, deadlineMs, what: "the new members to serve" }, async () => {
    const verdict = await evaluateGate(view);
    return verdict.open ? { done: undefined } : verdict.reasons.join("; ");
  });
  for (const name of started) journal.note(installStep(name), "", "UpdateDatabase");
}

async function writeFirst(ports: HostsPorts, { ca, leaves, owner }: HostsRequest, spec: EtcdSpec): Promise<void> {
  const bundle = spec.tls && ca !== undefined ? union(ca) : undefined;
  if (bundle !== undefined) await writeBundle(ports, spec, bundle);
  for (const folder of foldersOf(spec)) await writeLeaf(ports, folder, leaves[folder]!);
  const template = { stage: finalStage(spec), ...(bundle && { trustRevision: trustRevision(bundle) }) };
  await ports.kube.apply(renderWorkload(spec, template, { owner }));
}

/** Members read leaf and key at every handshake: new ones are served at once. */
async function installLeaves(ports: Ports, request: HostsRequest, spec: EtcdSpec, journal: Journal): Promise<void> {
  const changed = await leavesToInstall(ports, request);
  if (changed.length === 0) return;
  for (const folder of changed) {
    await writeLeaf(ports, folder, request.leaves[folder]!);
    journal.note(leafStep(folder), "", "CertificateSynced");
  }
  const { view, liveTls } = await observe(ports, spec);
  await awaitServing(view, spec, liveTls);
}

/** Folders of leaves that are not on every host as they were handed in. */
async function leavesToInstall(ports: Ports, { spec, leaves }: HostsRequest): Promise<string[]> {
  const changed: string[] = [];
  for (const folder of foldersOf(spec)) {
    const secret = await ports.kube.get("v1", "Secret", spec.namespace, folder);
    const data = (secret?.data ?? {}) as Record<string, string>;
    const { certificate, key } = leaves[folder]!;
    if (data["tls.crt"] !== encoded(certificate) || data["tls.key"] !== encoded(key)) changed.push(folder);
  }
  return changed;
}

async function writeLeaf(ports: Ports, folder: string, { certificate, key }: HandedLeaf): Promise<void> {
  const data = { "tls.crt": encoded(certificate), "tls.key": encoded(key) };
  await ports.kube.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: folder },
    type: "kubernetes.io/tls",
    data,
  });
}

/** As a file has it: a text ends with a line's end. */
function encoded(text: string): string {
  return Buffer.from(text.endsWith("\n") ? text : `${text}\n`).toString("base64");
}

/** What no member has a use for any more, once the walk is over. */
async function removeUnused(ports: Ports, spec: EtcdSpec): Promise<void> {
  const used = foldersOf(spec);
  for (const folder of FOLDERS) {
    if (!used.includes(folder)) await ports.kube.delete("v1", "Secret", spec.namespace, folder);
  }
  if (!spec.tls) await ports.kube.delete("v1", "ConfigMap", spec.namespace, "");
}

async function missingMembers(ports: Ports, spec: EtcdSpec): Promise<string[]> {
  const pods = await ports.kube.pods(spec);
  return names(spec).filter((name) => !pods.some((pod) => pod.name === name));
}

async function refuseOccupied(ports: HostsPorts, spec: EtcdSpec): Promise<void> {
  const lines = await ports.hosts.occupied();
  if (lines.length === 0) return;
  throw new Refusal(
    lines.map((rule) => ({
      path: "etcd:hosts",
      value: spec.name,
      rule,
      mend: "Move it away, or name other paths (dataDir, service); what is there is never overwritten",
    })),
  );
}

/** What is wrong with the certificates that were handed in. Never quotes them. */
async function handedProblems({ clock }: Ports, { spec, ca, leaves }: HostsRequest): Promise<ConfigProblem[]> {
  if (!spec.tls) return [];
  if (!ca?.includes("BEGIN CERTIFICATE")) {
    return [
      { path: "ca", rule: "is required with etcd:tls, in PEM", mend: "Hand in the CA that signed the certificates" },
    ];
  }
  return spec.tls.certificates
    .filter(({ alias, secretName }) => alias === secretName)
    .flatMap((asked) => {
      const path = `certificates.${asked.alias}`;
      const leaf = leaves[asked.alias];
      if (!leaf)
        return [{ path, rule: "is required with etcd:tls", mend: "Hand in a certificate and its key, in PEM" }];
      const wrong = wrongWith(leaf, asked, ca, clock.now(), purposesIn(spec, asked));
      const rule = wrong ?? unservableKey(spec, asked, leaf.certificate);
      const mend = "Make it anew, for the names of every host (hostSans) and signed by the CA that is handed in";
      return rule === undefined ? [] : [{ path, rule, mend }];
    });
}

type JudgedBy = Parameters<typeof checkMaterial> extends [unknown, ...infer Rest] ? Rest : never;

function wrongWith(leaf: HandedLeaf, ...terms: JudgedBy) {
  try {
    return checkMaterial(leaf, ...terms);
  } catch {
    // What cannot be read is not quoted either.
    return "must hold a certificate and its private key that can be read, in PEM";
  }
}

/** The CAs as the engine finds them in a spec. */
function withCas<T extends EarlierHosts>({ spec, ca }: T): { spec: EtcdSpec } {
  if (!spec.tls || ca === undefined) return { spec };
  return { spec: { ...spec, tls: { ...spec.tls, trustedCAs: [{ pem: union(ca) }] } } };
}

function foldersOf({ tls }: EtcdSpec): string[] {
  return [...new Set(tls?.certificates.map(({ secretName }) => secretName))];
}

function names({ hosts }: EtcdSpec): string[] {
  return (hosts?.members ?? []).map(({ name }) => name);
}

function installStep(name: string): string {
  return `install the member ${name}`;
}

function leafStep(folder: string): string {
  return `install the certificate ${folder} on every host`;
}
