import { Scenario, type ScenarioOptions } from "./scenario";
import { type Step, steps } from "./suite";

/** Making the namespace, the issuers and the stack of a case. */
const OPENING_TIMEOUT_MS = 300_000;
const CLOSING_TIMEOUT_MS = 600_000;

/** A scenario of a file's own, and the steps on it. */
export interface Case {
  step: Step;
  /** Throws before the first test of the file. */
  current: () => Scenario;
}

/** Opens a scenario before the tests of the `describe` around it, brings it to where they begin, and closes it after. */
export function onScenario(options: ScenarioOptions, prepare?: (scenario: Scenario) => Promise<unknown>): Case {
  let scenario: Scenario | undefined;
  beforeAll(async () => {
    scenario = await Scenario.open(options);
    await prepare?.(scenario);
  }, OPENING_TIMEOUT_MS);
  afterAll(() => scenario?.close(), CLOSING_TIMEOUT_MS);
  const current = () => {
    if (!scenario) throw new Error("the scenario is not open");
    return scenario;
  };
  return { step: steps(), current };
}
