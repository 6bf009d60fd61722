import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "./command";
import type { LiveObject } from "./kube";
import { CLUSTER, type Scenario } from "./scenario";

/** The files in which a client is given its certificate and the CAs that it trusts. */
export interface CredentialFiles {
  ca: string;
  certificate: string;
  key: string;
}

/** Keeps a client's files as the cluster has them, from the moment it has them; what goes from it stays in them. */
export class CredentialMirror {
  readonly files: CredentialFiles;
  #stopped = false;
  #loop: Promise<void> | undefined;
  #written = "";

  constructor(
    private readonly scenario: Scenario,
    folder: string,
  ) {
    mkdirSync(folder, { recursive: true });
    this.files = {
      ca: join(folder, "ca.crt"),
      certificate: join(folder, "client.crt"),
      key: join(folder, "client.key"),
    };
  }

  /** Copies what is there now, and goes on copying until stopped. */
  async start(): Promise<void> {
    await this.#copy();
    this.#loop = this.#repeat();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
  }

  async #repeat(): Promise<void> {
    while (!this.#stopped) {
      await sleep(300);
      // The API server may be busy; the next look is soon.
      await this.#copy().catch(() => undefined);
    }
  }

  /** In the middle of a change of source there may be two: the one that is to stay counts. */
  async #secret(): Promise<LiveObject | undefined> {
    const { kube, namespace, clientSecrets } = this.scenario;
    for (const name of clientSecrets) {
      const secret = await kube.get("v1", "Secret", name, namespace);
      if (secret) return secret;
    }
    return undefined;
  }

  async #copy(): Promise<void> {
    const secret = await this.#secret();
    const bundle = await this.scenario.kube.get("v1", "ConfigMap", `${CLUSTER}-trust-bundle`, this.scenario.namespace);
    const leaf = (secret?.data ?? {}) as Record<string, string>;
    const ca = (bundle?.data as Record<string, string> | undefined)?.["ca.crt"];
    const [certificate, key] = [leaf["tls.crt"], leaf["tls.key"]];
    if (!ca || !certificate || !key) return;
    const state = [ca, certificate, key].join();
    if (state === this.#written) return;
    replace(this.files.certificate, Buffer.from(certificate, "base64"));
    replace(this.files.key, Buffer.from(key, "base64"));
    // Last: a client that finds it finds the others too.
    replace(this.files.ca, Buffer.from(ca));
    this.#written = state;
  }
}

/** A client's files as the cluster has them now. */
export async function fetchCredentials(scenario: Scenario, folder: string): Promise<CredentialFiles> {
  const mirror = new CredentialMirror(scenario, folder);
  await mirror.start();
  await mirror.stop();
  return mirror.files;
}

/** Readers see the old content or the new one, never half of it. */
function replace(path: string, content: Buffer): void {
  writeFileSync(`${path}.part`, content, { mode: 0o600 });
  renameSync(`${path}.part`, path);
}
