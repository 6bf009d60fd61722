import { sleep } from "./command";
import type { Scenario } from "./scenario";

/** Evicts a pod as `kubectl drain` does: again and again until it is allowed. Returns how often it was refused. */
export async function drain({ kube, namespace }: Scenario, pod: string): Promise<number> {
  for (let refused = 0; ; refused++) {
    if (await kube.evict(pod, namespace)) return refused;
    if (refused > 600) throw new Error(`${pod} could not be evicted in ${refused / 5} s`);
    await sleep(200);
  }
}
