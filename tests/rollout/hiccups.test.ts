import type { EtcdSpec } from "../../config";
import { carryOut, type Ports, previewRollout, Refusal } from "../../rollout";
import { OWNER, plainSpec, Scenario, tlsSpec, up } from "./world";

const plain = plainSpec(3);
const tls = tlsSpec(3);
const rotated = tlsSpec(3, { tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, rotate: "1" } });

async function settled(spec: EtcdSpec): Promise<Scenario> {
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  return scenario;
}

/** How often a method may be called before it fails, how often it fails then (default: once), and what it says. */
interface Hiccup {
  method: string;
  after: number;
  times?: number;
  message: string;
}

/** The port with calls that fail. Says whether it was come to. */
function failing<P extends object>(
  port: P,
  { method, after, times = 1, message }: Hiccup,
): { port: P; failed: () => boolean } {
  let calls = 0;
  const own = (port as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!;
  const call = async (...args: unknown[]) => {
    if (calls++ >= after && calls <= after + times) throw new Error(message);
    return own.call(port, ...args);
  };
  return { port: { ...port, [method]: call }, failed: () => calls > after };
}

test("a moment without a leader does not end a walk, whenever it comes", async () => {
  let after = 0;
  for (let failed = true; failed; after++) {
    const scenario = await settled(plain);
    const message = "etcdserver: no leader";
    await scenario.faults.run(async (ports) => {
      // Each of the three members is asked.
      const hiccup = failing(ports.etcd, { method: "memberList", after, times: 3, message });
      await up({ ...ports, etcd: hiccup.port }, tls, scenario.state);
      failed = hiccup.failed();
    });
    scenario.checkReached(tls);
    scenario.verify();
  }
  expect(after).toBeGreaterThan(20);
});

test("a pod whose annotation fails does not end a rotation", async () => {
  const scenario = await settled(tls);
  await scenario.faults.run(async (ports) => {
    const hiccup = failing(ports.kube, { method: "annotatePod", after: 1, message: "NotFound: pod db-1" });
    await up({ ...ports, kube: hiccup.port }, rotated, scenario.state);
    expect(hiccup.failed()).toBe(true);
  });
  scenario.verify();
});

describe("the operator's wall clock", () => {
  const preview = (ports: Ports, spec: EtcdSpec) => previewRollout(ports, { spec, owner: OWNER }, plain);

  test.each([
    ["ahead of", 600_000],
    ["behind", -600_000],
  ])("10 minutes %s the API server's is told", async (how, offset) => {
    const scenario = await settled(plain);
    scenario.world.clockOffset = offset;
    const { notes } = await scenario.faults.run((ports) => preview(ports, plain));
    expect(notes).toEqual([expect.stringContaining(`the clock of this machine is 10 minutes ${how} the API server's`)]);
  });

  test("that is right within the tolerance is no news", async () => {
    const scenario = await settled(plain);
    scenario.world.clockOffset = -240_000;
    const { notes } = await scenario.faults.run((ports) => preview(ports, plain));
    expect(notes).toEqual([]);
  });

  test("is told with what is refused, which may come of it", async () => {
    const scenario = await settled(plain);
    scenario.world.clockOffset = 3_600_000;
    scenario.world.certManager.issuers.clear();
    const refused = scenario.faults.run((ports) => preview(ports, tls));
    await expect(refused).rejects.toThrow(Refusal);
    await expect(refused).rejects.toThrow(/ca-a does not exist[\s\S]*60 minutes ahead of/);
  });

  test.each([
    ["forward", 3_600_000],
    ["back", -3_600_000],
  ])("may be set %s in the middle of a walk", async (_, offset) => {
    const scenario = await settled(tls);
    const restart = tlsSpec(3, { rollout: { restart: "1" } });
    const before = scenario.world.now();
    const { durationMs } = await scenario.faults.run((ports) => {
      const evict: Ports["kube"]["evict"] = async (...args) => {
        scenario.world.clockOffset = offset;
        return ports.kube.evict(...args);
      };
      const request = { spec: restart, owner: OWNER, settled: scenario.state.trust!.settled };
      return carryOut({ ...ports, kube: { ...ports.kube, evict } }, request, tls);
    });
    expect(durationMs).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(scenario.world.now() - before);
    scenario.verify();
  });
});
