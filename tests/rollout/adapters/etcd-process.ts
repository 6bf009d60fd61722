import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { PodAddress } from "../../../rollout/ports";

/** The etcd of the default release, and those of the releases before it. */
export type EtcdBinary = "etcd" | "etcd-3.6" | "etcd-3.5";

/**
 * The etcd to test with: `ETCD_BINARY`, which `make test` names, or the one on PATH. Of the older releases
 * `ETCD_BINARY_3_6` and `ETCD_BINARY_3_5`.
 */
export function findEtcd(name: EtcdBinary = "etcd"): string | undefined {
  const given = process.env[name.replace(/^etcd/, "ETCD_BINARY").replace(/[-.]/g, "_")];
  if (given) return given;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** `describe`, or a skipped one that says why. */
export function describeWithEtcd(name: string, body: () => void, binary: EtcdBinary = "etcd"): void {
  if (findEtcd(binary)) describe(name, body);
  else describe.skip(`${name} [skipped: no binary ${binary} on PATH or in ETCD_BINARY]`, body);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface TestMember extends PodAddress {
  clientPort: number;
  peerPort: number;
  metricsPort: number;
}

export async function testMembers(count: number): Promise<TestMember[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, ordinal) => ({
      namespace: "db",
      pod: `etcd-${ordinal}`,
      host: `etcd-${ordinal}.etcd-pods.db.svc.cluster.local`,
      clientPort: await freePort(),
      peerPort: await freePort(),
      metricsPort: await freePort(),
    })),
  );
}

/** etcd processes on loopback, one for each member, forming one cluster. */
export class TestCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), "etcd-adapter-"));
  readonly #processes: ChildProcess[] = [];

  constructor(
    readonly members: TestMember[],
    readonly flags: string[] = [],
    readonly scheme: { client: string; peer: string } = { client: "http", peer: "http" },
    readonly binary: EtcdBinary = "etcd",
  ) {}

  start(): void {
    const peerUrl = ({ peerPort }: TestMember) => `${this.scheme.peer}://127.0.0.1:${peerPort}`;
    const initial = this.members.map((member) => `${member.pod}=${peerUrl(member)}`).join(",");
    for (const member of this.members) {
      const clientUrl = `${this.scheme.client}://127.0.0.1:${member.clientPort}`;
      const args = [
        ...["--name", member.pod, "--data-dir", join(this.#folder, member.pod), "--initial-cluster", initial],
        ...["--listen-client-urls", clientUrl, "--advertise-client-urls", clientUrl],
        ...["--listen-peer-urls", peerUrl(member), "--initial-advertise-peer-urls", peerUrl(member)],
        ...["--listen-metrics-urls", `http://127.0.0.1:${member.metricsPort}`],
        ...["--log-level", "error", "--heartbeat-interval", "50", "--election-timeout", "500", ...this.flags],
      ];
      this.#processes.push(spawn(findEtcd(this.binary)!, args, { stdio: "ignore" }));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#processes.map(async (child) => {
        if (child.exitCode !== null) return;
        child.kill("SIGKILL");
        await new Promise((resolve) => child.once("exit", resolve));
      }),
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function eventually<T>(attempt: () => Promise<T>, timeoutMs = 20_000): Promise<T> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
