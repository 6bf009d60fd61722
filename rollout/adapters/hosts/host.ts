import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import type { HostSpec, HostsAccess, HostsSpec } from "../../../config/types";
import {
  annotationsIn,
  environmentOf,
  type HostFile,
  layoutOf,
  metricsAddress,
  quote,
  TEMPLATE_HASH,
} from "../../../manifests";
import type { LivePod } from "../../ports";
import { HostError } from "./host-error";
import { expandHome } from "./paths";
import { isServing } from "./readyz";
import { activateScript, inspectScript, sectionsOf, writeScript } from "./scripts";
import type { Ssh } from "./ssh";

/** Large binaries over slow lines. */
const UPLOAD_TIMEOUT_MS = 600_000;

/** What is on a host. */
export interface HostState {
  /** Annotations of the template that the running process was started from; absent where none runs. */
  running?: Record<string, string>;
  /** Those of the service file that systemd would start; absent where none is installed. */
  installed?: Record<string, string>;
  /** Those of the template that was written and may not be in force yet. */
  next?: Record<string, string>;
  /** Annotations of the workload, as it was written with the template. */
  record?: Record<string, string>;
  /** Whether the data directory holds a member, and whether its service file is there but not ours. */
  data: boolean;
  foreign: boolean;
  service: Record<string, string>;
}

/** In the place of a revision: no process runs, and none is about to. */
const STOPPED = "stopped";

/** Whether systemd leaves a service stopped: not in the middle of a restart, and not waiting to try again. */
function isIdle({ ActiveState = "", Job = "" }: Record<string, string>): boolean {
  return !/[1-9]/.test(Job) && ["inactive", "failed"].includes(ActiveState);
}

/** One host of the cluster. */
export class Host {
  constructor(
    readonly ssh: Ssh,
    readonly place: HostSpec,
    readonly ordinal: number,
    private readonly hosts: HostsSpec,
  ) {}

  get name(): string {
    return this.place.name;
  }

  async state(): Promise<HostState> {
    const {
      service = "",
      process = "",
      unit = "",
      next = "",
      record = "",
      data = "",
    } = sectionsOf(await this.ssh.run(inspectScript(this.hosts)));
    const running = annotationsIn(process.split("\n"));
    const installed = annotationsIn(environmentOf(unit));
    return {
      ...(TEMPLATE_HASH in running && { running }),
      ...(TEMPLATE_HASH in installed && { installed }),
      ...(next && { next: annotationsIn(environmentOf(next)) }),
      ...(record && { record: JSON.parse(record) }),
      data: data.trim() === "present",
      foreign: unit !== "" && !(TEMPLATE_HASH in installed),
      service: Object.fromEntries(
        service
          .split("\n")
          .flatMap((line) => [/^(\w+)=(.*)$/.exec(line)?.slice(1) ?? []])
          .filter((pair) => pair.length === 2),
      ),
    };
  }

  /** The member as the engine sees a pod; undefined where none is installed. */
  async pod(): Promise<LivePod | undefined> {
    const { running, installed, service } = await this.state();
    if (!installed) return undefined;
    const terminating = service.ActiveState === "deactivating";
    // A process says itself what it was started from. Where none runs, the service file that systemd is about to start
    // counts; if it is not about to, a revision that no template has: the member needs a start.
    const hash = (running ?? (isIdle(service) ? { [TEMPLATE_HASH]: STOPPED } : installed))[TEMPLATE_HASH] ?? STOPPED;
    const ready = running !== undefined && !terminating && (await this.#serves());
    return {
      name: this.name,
      uid: hash,
      ordinal: this.ordinal,
      revision: hash,
      ready,
      terminating,
      annotations: running ?? installed,
      ...(running === undefined && { trouble: this.#trouble(service) }),
    };
  }

  /** Folders are made as they are needed. `leaves`: those of certificates. */
  async write(files: HostFile[], leaves: string[] = []): Promise<void> {
    await this.ssh.run(writeScript(this.hosts, leaves, files));
  }

  /** `gone`: another member runs there by now than the expected one. */
  async activate(expected: string): Promise<"evicted" | "gone"> {
    const said = (await this.ssh.run(activateScript(this.hosts, expected))).trim().split("\n").at(-1);
    return said === "evicted" ? "evicted" : "gone";
  }

  /** Brings etcd to the host, unless it is there already. The digest is part of its path. */
  async upload({ file, sha256 }: NonNullable<HostsAccess["upload"]>): Promise<void> {
    const path = quote(this.hosts.binary);
    const there = await this.ssh.run(`sha256sum ${path} 2>/dev/null || true\n`);
    if (there.startsWith(sha256)) return;
    const local = expandHome(file);
    const found = createHash("sha256").update(readFileSync(local)).digest("hex");
    if (found !== sha256) {
      throw new HostError(
        "Command",
        this.name,
        `binary.file ${file} has the SHA-256 ${found}, and binary.sha256 is ${sha256}`,
      );
    }
    const folder = quote(this.hosts.binary.replace(/\/[^/]*$/, ""));
    const command = `set -e; umask 022; mkdir -p ${folder}; cat >${path}.new; chmod 0755 ${path}.new; echo "${sha256}  ${path}.new" | sha256sum -c --quiet; mv -f ${path}.new ${path}`;
    await this.ssh.feed(`/bin/sh -c ${quote(command)}`, createReadStream(local), UPLOAD_TIMEOUT_MS);
  }

  #serves(): Promise<boolean> {
    return isServing(() => this.ssh.forward(metricsAddress(this.place), 2381));
  }

  #trouble({
    ActiveState = "unknown",
    SubState = "",
    Result = "",
    ExecMainStatus = "",
  }: Record<string, string>): string {
    const ended = Result && Result !== "success" ? `: ${Result}, exit status ${ExecMainStatus}` : "";
    return `its service ${this.hosts.service} is ${ActiveState} (${SubState})${ended}`;
  }

  layout() {
    return layoutOf(this.hosts);
  }
}
