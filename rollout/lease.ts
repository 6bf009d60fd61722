import type { EtcdSpec } from "../config/types";
import type { KubeObject } from "../manifests/types";
import { type HostsPorts, PLAIN_READS, type Ports } from "./ports";
import { FatalError, waitFor } from "./wait";

/** A holder that has not renewed for this long is taken for dead, in seconds. */
const DURATION_SECONDS = 15;
const RENEW_AFTER_MS = 5000;

type Target = Pick<EtcdSpec, "name" | "namespace" | "rollout">;

interface LeaseObject extends KubeObject {
  spec: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}

/** Name of the Lease that says who walks the members of a cluster. */
export function leaseName({ name }: Pick<EtcdSpec, "name">): string {
  return `${name}-rollout`;
}

/**
 * Runs `body` while no other update does the same to this cluster: a Lease (`coordination.k8s.io/v1`) names the one
 * that may. It is renewed along with what `body` does; once another holder has taken it, `body` may change nothing
 * more and ends with an error. Waits for a running update for `rollout.lockTimeout`.
 */
export async function withLease<T, P extends Ports>(
  ports: P,
  target: Target,
  holder: string | undefined,
  body: (guarded: P) => Promise<T>,
): Promise<T> {
  if (holder === undefined) return body(ports);
  const lease = new Lease(ports, target, holder);
  await lease.acquire();
  try {
    return await body(guard(ports, lease));
  } finally {
    await lease.release();
  }
}

class Lease {
  private renewed = { at: Number.NEGATIVE_INFINITY, wall: 0 };
  private holding: Promise<void> | undefined;

  constructor(
    private readonly ports: Ports,
    private readonly target: Target,
    private readonly holder: string,
  ) {}

  /** As client-go does: whether a holder is alive is told by its renewals, never by comparing two machines' clocks. */
  async acquire(): Promise<void> {
    const { clock } = this.ports;
    let seen = { renewTime: "", at: clock.monotonic() };
    const { stepTimeoutSeconds, lockTimeoutSeconds = stepTimeoutSeconds } = this.target.rollout;
    // Less would not even see that a holder has died.
    const deadlineMs = Math.max(lockTimeoutSeconds, 2 * DURATION_SECONDS) * 1000;
    const wait = { clock, deadlineMs, intervalMs: 1000, what: "the other update of this cluster to end" };
    await waitFor(wait, async () => {
      const live = await this.read();
      const { holderIdentity = "", renewTime = "" } = live?.spec ?? {};
      if (renewTime !== seen.renewTime) seen = { renewTime, at: clock.monotonic() };
      const alive = holderIdentity !== "" && clock.monotonic() - seen.at < DURATION_SECONDS * 1000;
      if (alive) return `${holderIdentity} holds the Lease ${this.target.namespace}/${leaseName(this.target)}`;
      await this.write(live);
      return { done: undefined };
    });
  }

  /**
   * Before every change: this update must still be the one that may. Calls at the same time ask once: two that renew
   * at once would be one another's conflict.
   */
  hold(): Promise<void> {
    this.holding ??= this.renew().finally(() => {
      this.holding = undefined;
    });
    return this.holding;
  }

  private async renew(): Promise<void> {
    if (!this.isDue()) return;
    // A write whose answer was lost is a conflict when it is sent again, although nobody else has written.
    await this.write(await this.readOwn()).catch(async (error: Error) => {
      if (error instanceof FatalError) throw error;
      await this.write(await this.readOwn());
    });
  }

  private async readOwn(): Promise<LeaseObject> {
    const live = await this.read();
    if (live?.spec.holderIdentity === this.holder) return live;
    throw new FatalError(
      `another update (${live?.spec.holderIdentity ?? "unknown"}) has taken over this cluster; this one stops here. Run it again once the other has ended`,
    );
  }

  /** The wall clock may be set back, and a machine that sleeps may stop the other one: whichever says so first. */
  private isDue(): boolean {
    const { clock } = this.ports;
    const elapsed = clock.monotonic() - this.renewed.at;
    return elapsed >= RENEW_AFTER_MS || Math.abs(clock.now() - this.renewed.wall) >= RENEW_AFTER_MS;
  }

  /** Not being able to let go costs the next update some seconds, and never this one its result. */
  async release(): Promise<void> {
    try {
      const live = await this.read();
      if (live?.spec.holderIdentity !== this.holder) return;
      await this.ports.kube.replace({ ...live, spec: { ...live.spec, holderIdentity: "" } });
    } catch {
      // It runs out by itself.
    }
  }

  private read(): Promise<LeaseObject | undefined> {
    const { namespace } = this.target;
    return this.ports.kube.get("coordination.k8s.io/v1", "Lease", namespace, leaseName(this.target)) as Promise<
      LeaseObject | undefined
    >;
  }

  /** The resource version makes the loser of a race fail with a conflict. */
  private async write(live: LeaseObject | undefined): Promise<void> {
    const { clock } = this.ports;
    const renewed = { at: clock.monotonic(), wall: clock.now() };
    const renewTime = new Date(renewed.wall).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: this.holder, leaseDurationSeconds: DURATION_SECONDS, renewTime };
    const metadata = { name: leaseName(this.target), namespace: this.target.namespace };
    if (live) await this.ports.kube.replace({ ...live, spec });
    else await this.ports.kube.create({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec });
    this.renewed = renewed;
  }
}

/** Everything but plain reads asks the lease first: what changes the cluster, and what is polled while waiting. */
function guard<P extends Ports>(ports: P, lease: Lease): P {
  const { kube, etcd, hosts } = ports as Ports & Partial<HostsPorts>;
  return {
    ...ports,
    kube: guarded(kube, PLAIN_READS.kube, lease),
    etcd: guarded(etcd, PLAIN_READS.etcd, lease),
    ...(hosts && { hosts: guarded(hosts, PLAIN_READS.hosts, lease) }),
  };
}

/** The methods run on the object itself, private fields and all. */
function guarded<T extends object>(port: T, reads: readonly PropertyKey[], lease: Lease): T {
  return new Proxy(port, {
    get(original, name) {
      const own = Reflect.get(original, name);
      if (typeof own !== "function") return own;
      if (reads.includes(name)) return own.bind(original);
      return async (...args: unknown[]) => {
        await lease.hold();
        return own.apply(original, args);
      };
    },
  });
}
