import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "./scenario";

interface State {
  deployment: { resources: { urn: string; outputs?: Record<string, unknown> }[] };
}

/**
 * Lets the time for renewal of a certificate come: the state says that it ends in an hour. Whether to renew is decided
 * by what the state says, so that this does what waiting for months would do.
 */
export async function expire({ stack, folder }: Scenario, type: string, name: string): Promise<void> {
  const state = JSON.parse(await stack.exportState()) as State;
  const found = state.deployment.resources.find(({ urn }) => urn.includes(`:${type}::`) && urn.endsWith(`::${name}`));
  if (!found?.outputs) throw new Error(`the state has no ${type} ${name}`);
  found.outputs.validityEndTime = new Date(Date.now() + 3_600_000).toISOString();
  const file = join(folder, "aged-state.json");
  writeFileSync(file, JSON.stringify(state), { mode: 0o600 });
  await stack.importState(file);
}
