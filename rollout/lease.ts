import type { EtcdSpec } from "../config/types";
import type { KubeObject } from "../manifests/types";
import type { Ports } from "./ports";
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
export async function withLease<T>(
  ports: Ports,
  target: Target,
  holder: string | undefined,
  body: (guarded: Ports) => Promise<T>,
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
  private renewedAt = 0;

  constructor(
    private readonly ports: Ports,
    private readonly target: Target,
    private readonly holder: string,
  ) {}

  /** As client-go does: whether a holder is alive is told by its renewals, never by comparing two machines' clocks. */
  async acquire(): Promise<void> {
    const { clock } = this.ports;
    let seen = { renewTime: "", at: clock.now() };
    const { stepTimeoutSeconds, lockTimeoutSeconds = stepTimeoutSeconds } = this.target.rollout;
    // Less would not even see that a holder has died.
    const deadlineMs = Math.max(lockTimeoutSeconds, 2 * DURATION_SECONDS) * 1000;
    const wait = { clock, deadlineMs, intervalMs: 1000, what: "the other update of this cluster to end" };
    await waitFor(wait, async () => {
      const live = await this.read();
      const { holderIdentity = "", renewTime = "" } = live?.spec ?? {};
      if (renewTime !== seen.renewTime) seen = { renewTime, at: clock.now() };
      const alive = holderIdentity !== "" && clock.now() - seen.at < DURATION_SECONDS * 1000;
      if (alive) return `${holderIdentity} holds the Lease ${this.target.namespace}/${leaseName(this.target)}`;
      await this.write(live);
      return { done: undefined };
    });
  }

  /** Before every change: this update must still be the one that may. */
  async hold(): Promise<void> {
    if (this.ports.clock.now() - this.renewedAt < RENEW_AFTER_MS) return;
    const live = await this.read();
    if (live?.spec.holderIdentity !== this.holder) {
      throw new FatalError(
        `another update (${live?.spec.holderIdentity ?? "unknown"}) has taken over this cluster; this one stops here. Run it again once the other has ended`,
      );
    }
    await this.write(live);
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
    const now = this.ports.clock.now();
    const renewTime = new Date(now).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: this.holder, leaseDurationSeconds: DURATION_SECONDS, renewTime };
    const metadata = { name: leaseName(this.target), namespace: this.target.namespace };
    if (live) await this.ports.kube.replace({ ...live, spec });
    else await this.ports.kube.create({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec });
    this.renewedAt = now;
  }
}

/** Everything that changes the cluster asks the lease first; whatever is polled while waiting keeps it alive. */
function guard(ports: Ports, lease: Lease): Ports {
  const { kube, etcd } = ports;
  const first =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await lease.hold();
      return call(...args);
    };
  const guardedKube = overriding(kube, {
    get: first(kube.get.bind(kube)),
    list: first(kube.list.bind(kube)),
    pods: first(kube.pods.bind(kube)),
    apply: first(kube.apply.bind(kube)),
    evict: first(kube.evict.bind(kube)),
    deletePod: first(kube.deletePod.bind(kube)),
    delete: first(kube.delete.bind(kube)),
    replaceStatus: first(kube.replaceStatus.bind(kube)),
  });
  const guardedEtcd = overriding(etcd, {
    updatePeerUrls: first(etcd.updatePeerUrls.bind(etcd)),
    moveLeader: first(etcd.moveLeader.bind(etcd)),
  });
  return { ...ports, kube: guardedKube, etcd: guardedEtcd };
}

/** The object with some of its methods replaced; the others run on the object itself, private fields and all. */
function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(original, name) {
      const own = (methods as { [key: PropertyKey]: unknown })[name] ?? Reflect.get(original, name);
      return typeof own === "function" ? own.bind(original) : own;
    },
  });
}
