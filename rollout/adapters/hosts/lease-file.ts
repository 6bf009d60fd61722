import { createHash } from "node:crypto";
import type { KubeObject } from "../../../manifests/types";
import type { Host } from "./host";
import { HostError } from "./host-error";
import { exchangeScript, removeScript } from "./scripts";

/**
 * The Lease as a file on the first host: whoever reads it and writes it back fails where somebody else has written it
 * meanwhile, as with Kubernetes' resourceVersion.
 */
export class LeaseFile {
  constructor(private readonly host: Host) {}

  async get(): Promise<KubeObject | undefined> {
    const content = await this.host.ssh.run(`cat ${this.#path} 2>/dev/null || true\n`);
    if (content.trim() === "") return undefined;
    const object = JSON.parse(content) as KubeObject;
    const metadata = { ...object.metadata, resourceVersion: digest(content) };
    return { ...object, metadata };
  }

  create(object: KubeObject): Promise<KubeObject> {
    return this.#write(object, "none");
  }

  replace(object: KubeObject): Promise<KubeObject> {
    const { resourceVersion = "" } = object.metadata as { resourceVersion?: string };
    return this.#write(object, resourceVersion);
  }

  async delete(): Promise<void> {
    await this.host.ssh.run(removeScript([this.#path]));
  }

  get #path(): string {
    return `${this.host.layout().state}/lease.json`;
  }

  async #write(object: KubeObject, expected: string): Promise<KubeObject> {
    const { resourceVersion: _, ...metadata } = object.metadata as KubeObject["metadata"] & {
      resourceVersion?: string;
    };
    const content = `${JSON.stringify({ ...object, metadata })}\n`;
    const file = { path: this.#path, mode: "0644", owner: "root:root", content };
    const said = await this.host.ssh.run(exchangeScript(this.host.layout().state, file, expected));
    if (said.trim().endsWith("written")) return object;
    throw new HostError("Conflict", this.host.name, "somebody else has taken the lease of this cluster meanwhile");
  }
}

function digest(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}
