import type { Scheme } from "../writer/config";
import { type Aftermath, inspect, lookAfterwards } from "./aftermath";
import type { Change } from "./change";
import type { Inspection } from "./etcd-writer";
import { expectCertificates } from "./expect-certificates";
import { expectClients } from "./expect-clients";
import { expectSettled, type Goal } from "./expect-settled";
import { expectWalk } from "./expect-walk";
import { carryOut, type Evidence } from "./operation";
import type { Scenario } from "./scenario";
import { notTried, type Step } from "./suite";

const OPERATION_TIMEOUT_MS = 12 * 60_000;

/** Carries out a change under load, and tests everything that must hold of it and after it. */
export function describeChange(title: string, step: Step, scenario: () => Scenario, change: Change): void {
  describe(title, () => {
    let seen: Evidence | undefined;
    step(
      "is carried out",
      async () => {
        seen = await carryOut(scenario(), change);
      },
      OPERATION_TIMEOUT_MS,
    );
    const evidence = () => carriedOut(seen);
    expectClients(scenario, change, evidence);
    expectWalk(scenario, change, evidence);
    expectCertificates(scenario, change, evidence);
    expectSettled(
      scenario,
      change,
      () => evidence().aftermath,
      () => evidence().inspection,
    );
  });
}

/** Brings up a cluster where there was none, and tests what must hold after it. */
export function describeCreation(
  title: string,
  step: Step,
  scenario: () => Scenario,
  scheme: Scheme,
  goal: Omit<Goal, "to"> = {},
): void {
  describe(title, () => {
    let aftermath: Aftermath | undefined;
    let inspection: Inspection | undefined;
    step(
      "is carried out",
      async () => {
        await scenario().stack.preview();
        await scenario().stack.up({ skipPreview: true });
        aftermath = await lookAfterwards(scenario());
        inspection = await inspect(scenario(), scenario().folder, "");
      },
      OPERATION_TIMEOUT_MS,
    );
    expectSettled(
      scenario,
      { to: scheme, ...goal },
      () => carriedOut(aftermath),
      () => carriedOut(inspection),
    );
  });
}

/** Says plainly why a test has nothing to look at. */
function carriedOut<T>(seen: T | undefined): T {
  if (seen === undefined) throw notTried("the operation was not carried out");
  return seen;
}
