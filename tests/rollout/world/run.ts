import type { EtcdSpec } from "../../../config";
import { Scenario } from "./scenario";
import type { Change, Schedule } from "./schedule";
import { plainSpec, tlsSpec } from "./specs";

/** Lives one schedule: a settled cluster, one change of it, and faults until it is carried out or reverted. */
export async function live(schedule: Schedule): Promise<Scenario> {
  const { replicas, change, revert, wavering = false, learner, budget, durations, faults } = schedule;
  const [before, after] = specsOf(change, replicas);
  const scenario = new Scenario(before, {
    durations,
    budget,
    ...(learner !== undefined && replicas > 1 && { learner: learner % replicas }),
  });
  await scenario.until(before);
  scenario.disturb(faults);
  const asked = await scenario.until(after, revert ? { to: before, wavering } : undefined);
  if (scenario.invariants.broken.length === 0) await scenario.checkQuiet(asked);
  return scenario;
}

function specsOf(change: Change, replicas: number): [EtcdSpec, EtcdSpec] {
  const [plain, tls] = [plainSpec(replicas), tlsSpec(replicas)];
  const issuerRef = { name: "ca-a", kind: "Issuer" };
  switch (change) {
    case "add":
      return [plain, tls];
    case "remove":
      return [tls, plain];
    case "reissue":
      return [tls, tlsSpec(replicas, { tls: { issuerRef: { ...issuerRef, name: "ca-b" } } })];
    case "rotate":
      return [tls, tlsSpec(replicas, { tls: { issuerRef, rotate: "1" } })];
    case "template":
      return [tls, tlsSpec(replicas, { extraArgs: { "snapshot-count": 5000 } })];
  }
}
