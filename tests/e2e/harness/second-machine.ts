import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PulumiStack } from "./pulumi";
import type { Scenario } from "./scenario";

/**
 * The stack of a scenario as another machine has it that does not share its lock: the same settings and state, kept
 * elsewhere.
 */
export async function secondMachine({ environment, stack, folder }: Scenario): Promise<PulumiStack> {
  const own = join(folder, "second-machine");
  const backend = join(own, "state");
  mkdirSync(backend, { recursive: true });
  const variables = { ...environment.variables, PULUMI_BACKEND_URL: `file://${backend}` };
  const second = await PulumiStack.create({ ...environment, variables }, stack.name, own);
  second.restoreConfig(stack.saveConfig());
  const file = join(own, "export.json");
  writeFileSync(file, await stack.exportState());
  await second.importState(file);
  return second;
}
