import type { KubeObject } from "../../manifests";
import { withLease } from "../../rollout/lease";
import type { HostsPorts, Ports } from "../../rollout/ports";

const target = { name: "db", namespace: "data", rollout: { stepTimeoutSeconds: 60 } };

/** One API server with optimistic locking, and a clock that jumps. */
class Server {
  object: (KubeObject & { metadata: { resourceVersion?: string } }) | undefined;
  now = Date.parse("2030-01-01");
  /** By how much the wall clock is ahead. */
  offset = 0;
  evictions = 0;
  renewals = 0;
  /** The next write comes through, and says that it did not. */
  losesAnswer = false;
  #version = 0;

  ports(): Ports {
    const kube = {
      get: async () => structuredClone(this.object),
      create: async (object: KubeObject) => {
        if (this.object) throw new Error("Conflict: exists");
        return this.#store(object);
      },
      replace: async (object: KubeObject) => {
        const { resourceVersion } = object.metadata as { resourceVersion?: string };
        if (resourceVersion !== this.object?.metadata.resourceVersion) throw new Error("Conflict: changed");
        this.renewals += 1;
        const stored = this.#store(object);
        if (this.losesAnswer) {
          this.losesAnswer = false;
          throw new Error("Conflict: it was sent again");
        }
        return stored;
      },
      deletePod: async () => "deleted" as const,
      evict: async () => {
        this.evictions += 1;
        return "evicted" as const;
      },
      pods: async () => [],
      list: async () => [],
      apply: async (object: KubeObject) => object,
      delete: async () => {},
      replaceStatus: async () => {},
      workload: async () => undefined,
      annotatePod: async () => {},
      somethingNew: async () => {},
    };
    const etcd = { updatePeerUrls: async () => {}, moveLeader: async () => {}, setDowngrade: async () => {} };
    const clock = {
      now: () => this.now + this.offset,
      monotonic: () => this.now,
      sleep: async (ms: number) => {
        this.now += ms;
      },
    };
    return { kube, etcd, clock, report: { step: () => {} } } as unknown as Ports;
  }

  /** Somebody else's Lease; `alive`: it is renewed whenever somebody looks. */
  heldBy(holder: string, alive: boolean): void {
    this.#store({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "db-rollout", namespace: "data" },
      spec: { holderIdentity: holder, renewTime: "2030-01-01T00:00:00.000000Z" },
    });
    if (!alive) return;
    let looks = 0;
    const stored = this.object;
    Object.defineProperty(this, "object", {
      configurable: true,
      get: () => ({ ...stored, spec: { holderIdentity: holder, renewTime: `look ${looks++}` } }),
    });
  }

  #store(object: KubeObject): KubeObject {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    Object.defineProperty(this, "object", { value: { ...object, metadata }, writable: true, configurable: true });
    return object;
  }
}

const specOf = ({ object }: Server) => (object?.spec ?? {}) as { holderIdentity?: string; renewTime?: string };
const holderOf = (server: Server) => specOf(server).holderIdentity;

test("is taken, named while it is held, and let go", async () => {
  const server = new Server();
  const during = await withLease(server.ports(), target, "me", async () => holderOf(server));
  expect(during).toBe("me");
  expect(holderOf(server)).toBe("");
});

test("is let go although the update failed", async () => {
  const server = new Server();
  const failing = withLease(server.ports(), target, "me", async () => {
    throw new Error("no quorum");
  });
  await expect(failing).rejects.toThrow("no quorum");
  expect(holderOf(server)).toBe("");
});

test("of an update that runs is waited for until the deadline, naming who runs", async () => {
  const server = new Server();
  server.heldBy("other-host/17", true);
  const waiting = withLease(server.ports(), target, "me", async () => "ran");
  await expect(waiting).rejects.toThrow(/waited 60 s .*other-host\/17 holds the Lease data\/db-rollout/);
});

test("of an update that died is taken over after its duration", async () => {
  const server = new Server();
  server.heldBy("dead-host/17", false);
  const before = server.now;
  await expect(withLease(server.ports(), target, "me", async () => "ran")).resolves.toBe("ran");
  expect(server.now - before).toBeGreaterThanOrEqual(15_000);
});

test("once lost, nothing is changed any more", async () => {
  const server = new Server();
  const losing = withLease(server.ports(), target, "me", async (guarded) => {
    await guarded.kube.evict("data", "db-0", "uid");
    server.heldBy("other-host/17", false);
    server.now += 6000;
    await guarded.kube.evict("data", "db-1", "uid");
  });
  await expect(losing).rejects.toThrow("another update (other-host/17) has taken over");
  expect(server.evictions).toBe(1);
});

test("once it was deleted, nothing is changed any more either", async () => {
  const server = new Server();
  const losing = withLease(server.ports(), target, "me", async (guarded) => {
    server.object = undefined;
    server.now += 6000;
    await guarded.kube.evict("data", "db-1", "uid");
  });
  await expect(losing).rejects.toThrow("another update (unknown) has taken over this cluster");
  expect(server.evictions).toBe(0);
});

test("of an update that runs is waited for as long as the user says", async () => {
  const server = new Server();
  server.heldBy("other-host/17", true);
  const patient = { ...target, rollout: { ...target.rollout, lockTimeoutSeconds: 600 } };
  await expect(withLease(server.ports(), patient, "me", async () => "ran")).rejects.toThrow("waited 600 s");
});

test.each<[string, (kube: Ports["kube"]) => Promise<unknown>]>([
  ["members", (kube) => kube.pods({} as never)],
  ["a Certificate", (kube) => kube.get("cert-manager.io/v1", "Certificate", "data", "db-peer-cert")],
  ["requests", (kube) => kube.list("cert-manager.io/v1", "CertificateRequest", "data")],
])("is kept alive by %s being polled while waiting", async (_, poll) => {
  const server = new Server();
  await withLease(server.ports(), target, "me", async (guarded) => {
    const first = specOf(server).renewTime;
    server.now += 6000;
    await poll(guarded.kube);
    expect(specOf(server).renewTime).not.toBe(first);
  });
});

test("is renewed once by calls at the same time", async () => {
  const server = new Server();
  await withLease(server.ports(), target, "me", async ({ kube }) => {
    server.now += 6000;
    const get = (name: string) => kube.get("v1", "Secret", "data", name);
    await Promise.all([get("db-server-cert"), get("db-peer-cert"), get("db-client-cert")]);
    expect(server.renewals).toBe(1);
  });
});

test.each([
  ["set back", -3_600_000],
  ["set forward", 3_600_000],
])("is renewed although the wall clock was %s", async (_, offset) => {
  const server = new Server();
  await withLease(server.ports(), target, "me", async ({ kube }) => {
    server.offset = offset;
    server.now += 6000;
    await kube.evict("data", "db-0", "uid");
    expect(server.renewals).toBe(1);
  });
});

test("is renewed after a sleep of the machine, which only the wall clock has counted", async () => {
  const server = new Server();
  await withLease(server.ports(), target, "me", async ({ kube }) => {
    server.offset = 20_000;
    server.heldBy("other-host/17", false);
    await expect(kube.evict("data", "db-0", "uid")).rejects.toThrow("another update (other-host/17) has taken over");
    expect(server.evictions).toBe(0);
  });
});

test("is kept when the answer to a renewal was lost", async () => {
  const server = new Server();
  await withLease(server.ports(), target, "me", async ({ kube }) => {
    server.now += 6000;
    server.losesAnswer = true;
    await expect(kube.evict("data", "db-0", "uid")).resolves.toBe("evicted");
  });
});

test.each(["create", "replace", "annotatePod", "workload", "somethingNew"])(
  "once lost, no %s goes through",
  async (name) => {
    const server = new Server();
    await withLease(server.ports(), target, "me", async ({ kube }) => {
      server.heldBy("other-host/17", false);
      server.now += 6000;
      const call = (kube as unknown as { [name: string]: (object: unknown) => Promise<unknown> })[name]!;
      await expect(call({ metadata: {} })).rejects.toThrow("another update (other-host/17) has taken over");
    });
  },
);

test("once lost, no change of etcd or of hosts goes through", async () => {
  const server = new Server();
  const hosts = { occupied: async () => [], startMissing: async () => [] };
  const ports = { ...server.ports(), hosts } as unknown as HostsPorts;
  await withLease(ports, target, "me", async (guarded) => {
    server.heldBy("other-host/17", false);
    server.now += 6000;
    await expect(guarded.etcd.setDowngrade({} as never, "3.6", 1000)).rejects.toThrow("has taken over");
    await expect(guarded.hosts.startMissing()).rejects.toThrow("has taken over");
    await expect(guarded.hosts.occupied()).resolves.toEqual([]);
  });
});

test("leaves methods that only read to the port itself, private fields and all", async () => {
  class Port {
    #answer = "issuer";
    issuer() {
      return this.#answer;
    }
  }
  const server = new Server();
  const ports = server.ports();
  const kube = Object.assign(new Port(), ports.kube);
  await withLease({ ...ports, kube } as unknown as Ports, target, "me", async (guarded) => {
    expect((guarded.kube as unknown as Port).issuer()).toBe("issuer");
  });
});

test("nobody's name, no Lease", async () => {
  const server = new Server();
  await withLease(server.ports(), target, undefined, async () => undefined);
  expect(server.object).toBeUndefined();
});
