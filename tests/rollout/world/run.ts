import { Scenario } from "./scenario";
import type { Schedule } from "./schedule";
import { plainSpec, tlsSpec } from "./specs";

/** Lives one schedule: a settled cluster, one change of its TLS, and faults until it is carried out or reverted. */
export async function live(schedule: Schedule): Promise<Scenario> {
  const { replicas, from, revert, budget, durations, faults } = schedule;
  const [before, after] =
    from === "plain" ? [plainSpec(replicas), tlsSpec(replicas)] : [tlsSpec(replicas), plainSpec(replicas)];
  const scenario = new Scenario(before, { durations, budget });
  await scenario.until(before);
  scenario.disturb(faults);
  await scenario.until(after, revert ? before : undefined);
  return scenario;
}
