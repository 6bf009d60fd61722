import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { utils } from "ssh2";
import type { HostAccess } from "../../../../config/types";
import { eventually, findEtcd, freePort } from "../etcd-process";

const HERE = __dirname;

/** Folder with an SSH server: the one that PULUMI_ETCD_TEST_PROGRAMS names, or `/` if one is installed. */
function findSshd(): string | undefined {
  const folders = ["/", process.env.PULUMI_ETCD_TEST_PROGRAMS ?? "/"];
  return folders.find((root) => existsSync(join(root, "usr/sbin/sshd")));
}

/** Why hosts cannot be run here; undefined where they can. */
function lack(): string | undefined {
  if (!findEtcd()) return "no etcd binary on PATH or in ETCD_BINARY";
  if (!findSshd()) return "no sshd on this machine: `make test-hosts` fetches one";
  const able = spawnSync("unshare", ["--mount", "--pid", "--fork", "--mount-proc", "true"]).status === 0;
  return able ? undefined : "namespaces of its own need root and CAP_SYS_ADMIN";
}

/** `describe`, or a skipped one that says why. */
export function describeWithHosts(name: string, body: () => void): void {
  const lacks = lack();
  if (!lacks) describe(name, body);
  else describe.skip(`${name} [skipped: ${lacks}]`, body);
}

/**
 * A host of its own on this machine: its files under /etc, /usr and /var are copies, its processes end with it, and an
 * SSH server listens on a port of loopback. There is no systemd in it: `systemctl` asks a small supervisor that reads
 * the unit files.
 */
export class TestHost {
  readonly folder = mkdtempSync(join(tmpdir(), "etcd-host-"));
  readonly hostKeys = { ed25519: keyPair("ed25519"), rsa: keyPair("rsa") };
  readonly clientKeyFile = join(this.folder, "id");
  #process: ChildProcess | undefined;
  #log = "";
  port = 0;

  constructor(
    readonly name: string,
    readonly address: string,
  ) {
    const user = keyPair("ed25519");
    writeFileSync(this.clientKeyFile, user.private, { mode: 0o600 });
    mkdirSync(join(this.folder, "ssh"));
    for (const [type, pair] of Object.entries(this.hostKeys))
      writeFileSync(join(this.folder, "ssh", `host_${type}`), pair.private, { mode: 0o600 });
    writeFileSync(join(this.folder, "ssh", "authorized_keys"), user.public);
  }

  /** How it is reached, its key pinned. */
  get access(): HostAccess {
    const { name, port, clientKeyFile } = this;
    return {
      name,
      host: this.address,
      port,
      user: "root",
      privateKeyFile: clientKeyFile,
      hostKey: this.hostKeys.ed25519.public,
    };
  }

  async start(): Promise<void> {
    this.port ||= await freePort();
    const root = findSshd()!;
    writeFileSync(join(this.folder, "ssh", "config"), this.#sshdConfig());
    const libraries = ["usr/lib", "lib"].map((each) => join(root, each, "x86_64-linux-gnu")).join(":");
    const init = [join(HERE, "init.sh"), this.folder, process.execPath, HERE, join(root, "usr/sbin/sshd"), findEtcd()!];
    const child = spawn("unshare", ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", ...init], {
      env: {
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        LD_LIBRARY_PATH: root === "/" ? "" : libraries,
      },
      stdio: ["pipe", "ignore", "pipe"],
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#log = (this.#log + chunk).slice(-4000);
    });
    this.#process = child;
    await eventually(() => this.#answers()).catch((error: Error) => {
      throw new Error(`${this.name}: ${error.message}\n${this.#log}`);
    });
  }

  /** Ends every process of the host, as a power cut would; its files under `folder` are gone with them. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null) return;
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What a command prints on the host. */
  inside(command: string): string {
    const pid = String(this.#process?.pid);
    const [init = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return execFileSync("nsenter", ["--mount", "--pid", "--target", init, "sh", "-c", command], { encoding: "utf8" });
  }

  #answers(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ host: this.address, port: this.port });
      socket.on("error", reject);
      socket.on("data", () => {
        socket.destroy();
        resolve();
      });
    });
  }

  #sshdConfig(): string {
    const ssh = join(this.folder, "ssh");
    return [
      `ListenAddress ${this.address}:${this.port}`,
      `HostKey ${ssh}/host_ed25519`,
      `HostKey ${ssh}/host_rsa`,
      `AuthorizedKeysFile ${ssh}/authorized_keys`,
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
      "StrictModes no",
      "UsePAM no",
      "PidFile none",
      "MaxStartups 100",
      "",
    ].join("\n");
  }
}

function keyPair(type: "ed25519" | "rsa"): { private: string; public: string } {
  return type === "rsa" ? utils.generateKeyPairSync("rsa", { bits: 2048 }) : utils.generateKeyPairSync("ed25519");
}
