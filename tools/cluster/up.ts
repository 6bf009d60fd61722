import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lock } from "../cache.ts";
import { output } from "../command.ts";
import { debianFolder } from "../debian.ts";
import { UserError } from "../errors.ts";
import { binary, goTool, goToolFolder } from "../go-tools.ts";
import { isRunning, type ProcessIdentity } from "../process-identity.ts";
import { elapsed, report, step } from "../progress.ts";
import { clusterTools, ensureTools } from "../tools.ts";
import { missingAbilities } from "./capabilities.ts";
import { paths, stateRoot } from "./clone.ts";
import * as components from "./components.ts";
import { writeConfiguration } from "./configuration.ts";
import { removeEverything } from "./down.ts";
import { importImages } from "./import-images.ts";
import { startKeeper, waitForMounts } from "./keeper.ts";
import { apply, kubectl } from "./kubectl.ts";
import { chooseAddresses, connect } from "./network.ts";
import { certManagerNamespace, storageClass } from "./objects.ts";
import { apiServerReady, dnsAnswers, everythingWorks, nodeReady } from "./ready.ts";
import { fixed, readSettings, type Settings, writeSettings } from "./settings.ts";
import { start } from "./supervisor.ts";

/** Brings the cluster of this clone up, from whatever state it is in. */
export async function up(): Promise<void> {
  const lacks = isRunning(readSettings()?.keeper) ? [] : missingAbilities();
  if (lacks.length) throw new UserError(describeLacks(lacks), 3);
  mkdirSync(stateRoot, { recursive: true, mode: 0o700 });
  const unlock = await lock(paths.lock, "the cluster");
  try {
    await ensureTools(clusterTools);
    const settings = await runningOrFresh();
    await startEverything(settings);
  } finally {
    unlock();
  }
}

export function describeLacks(lacks: { ability: string; remedy: string }[]): string {
  const lines = lacks.map(({ ability, remedy }) => `  ${ability}: ${remedy}`);
  return ["this machine lacks for a local cluster:", ...lines, "or use a cluster of your own: set KUBECONFIG"].join(
    "\n",
  );
}

async function runningOrFresh(): Promise<Settings> {
  const settings = readSettings();
  if (settings?.keeper && isRunning(settings.keeper)) return settings;
  if (existsSync(paths.cluster)) {
    report(
      'the cluster of this clone has ended without "cluster down" (a restart of the machine?): starting a new one',
    );
    await removeEverything();
  }
  return step("making namespaces, network and keys", makeFoundation);
}

async function makeFoundation(): Promise<Settings> {
  mkdirSync(paths.logs, { recursive: true, mode: 0o700 });
  const settings: Settings = { ...(await chooseAddresses()), processes: {}, images: {} };
  writeSettings(settings);
  await output(binary("cluster-pki"), [
    `--directory=${join(paths.cluster, "pki")}`,
    `--server=https://${settings.nodeAddress}:6443`,
    `--node=${fixed.nodeName}`,
    `--domain=${fixed.clusterDomain}`,
    // 10.96.0.1 is the Service "kubernetes": the first address of the range.
    `--addresses=${settings.nodeAddress},127.0.0.1,10.96.0.1`,
  ]);
  writeConfiguration(settings);
  mkdirSync(join(paths.cluster, "data", "volumes"), { recursive: true });
  settings.keeper = await startKeeper();
  writeSettings(settings);
  await waitForMounts(settings.keeper);
  await connect(settings.keeper, settings);
  return settings;
}

async function startEverything(settings: Settings): Promise<void> {
  const keeper = settings.keeper as ProcessIdentity;
  const run = (...list: components.Component[]) => start(settings, keeper, list);
  const foundation = [components.etcd(), components.kubeApiserver(settings), components.containerd(debianFolder())];
  const kubernetes = [...components.controlPlane(), ...components.node(settings)];
  if (settings.ready) {
    await run(...foundation, ...kubernetes, ...components.services());
    await Promise.all([apiServerReady(settings), importImages(settings, keeper)]);
    return;
  }
  const started = Date.now();
  await run(...foundation);
  await Promise.all([
    step("waiting for the API server", () => apiServerReady(settings)),
    step("importing images", () => importImages(settings, keeper)),
  ]);
  await run(...kubernetes);
  await step("applying the StorageClass and the CRDs of cert-manager", applyObjects);
  await run(...components.services());
  await step("waiting for the node and for DNS", () => Promise.all([nodeReady(settings), dnsAnswers(settings)]));
  await step("trying a volume, a pod and a certificate", () => everythingWorks(settings));
  settings.ready = true;
  writeSettings(settings);
  report(`the cluster is working: ${elapsed(started)}. KUBECONFIG=${paths.kubeconfig}`);
}

/** Applies the CustomResourceDefinitions in a folder and waits until the API server serves them. */
export async function applyCrds(folder: string): Promise<void> {
  const files = readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .flatMap((name) => ["--filename", join(folder, name)]);
  if (!files.length) throw new UserError(`${folder} holds no .yaml file: name a folder with CustomResourceDefinitions`);
  await kubectl("apply", "--server-side", ...files);
  await kubectl("wait", "--for=condition=Established", "--timeout=60s", ...files);
}

async function applyObjects(): Promise<void> {
  await apply(certManagerNamespace, storageClass);
  const crds = join(goToolFolder(goTool("cluster")), "crds");
  await applyCrds(crds);
}
