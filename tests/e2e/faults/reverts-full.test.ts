import { onScenario } from "../harness/case";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import type { FaultRun } from "../harness/fault";
import { OPERATIONS, type Operation, prepareFor } from "../harness/kill-chain";
import { describeOnCluster } from "../harness/suite";
import type { Update } from "../harness/update";

/** How far an update gets before it is broken off and the settings are put back. */
interface TurningPoint {
  at: string;
  /** What it has told then. */
  told: RegExp;
  how: "the CLI is killed" | "the provider is killed" | "Ctrl-C";
  /**
   * Those who were restarted till then restart once more for each pass that they have to go back. A killed CLI is
   * noticed after three seconds; after Ctrl-C, Pulumi lets the resource in hand come to its end, and with it the walk.
   */
  restarts: number | [least: number, most: number];
}

const BREAK_OFF: Record<TurningPoint["how"], (run: FaultRun, update: Update) => Promise<void>> = {
  "the CLI is killed": (run, update) => run.killCli(update),
  "the provider is killed": (run, update) => run.killProvider(update),
  "Ctrl-C": (run, update) => run.interrupt(update),
};

const POINTS: Record<Operation, TurningPoint[]> = {
  add: [
    { at: "once the first member serves both", told: /^pass 1\/2: restart /, how: "Ctrl-C", restarts: 12 },
    {
      at: "while a member is registered under both URLs",
      told: /^pass 2\/2: register the peer URLs of/,
      how: "the CLI is killed",
      restarts: [6, 10],
    },
    {
      at: "once the first member has TLS",
      told: /^pass 2\/2: restart /,
      how: "the provider is killed",
      restarts: [8, 9],
    },
  ],
  remove: [
    {
      at: "while the second member restarts",
      told: /^pass 1\/2: restarting \S+ \(2 of 3\)/,
      how: "the provider is killed",
      restarts: [3, 4],
    },
    {
      at: "once the first member has no TLS",
      told: /^pass 2\/2: restart /,
      how: "the CLI is killed",
      restarts: [8, 10],
    },
  ],
  issuer: [
    {
      at: "once the bundle has both CAs",
      told: /^trust bundle: add /,
      how: "the provider is killed",
      restarts: [0, 2],
    },
    { at: "once the first member trusts both", told: /^widen: restart /, how: "Ctrl-C", restarts: 6 },
    {
      at: "once every member serves the new certificates",
      told: /^wait until every member serves/,
      how: "the CLI is killed",
      restarts: [6, 9],
    },
  ],
};

for (const operation of Object.keys(POINTS) as Operation[]) {
  const { during, from, edit } = OPERATIONS[operation];
  describeOnCluster(`faults: ${during} is broken off, and the settings are put back`, () => {
    const { step, current } = onScenario(
      { name: `revert-${operation}`, replicas: 3, issuerKind: "Issuer" },
      (scenario) => prepareFor(operation, scenario),
    );

    describeCreation(`created over ${from}`, step, current, from);

    for (const { at, told, how, restarts } of POINTS[operation]) {
      describeFault("Settings put back", step, current, {
        during,
        fault: `${how} ${at}; the settings are put back`,
        from,
        to: from,
        retry: { eitherScheme: true },
        happens: async (run) => {
          const { stack } = run.scenario;
          const before = stack.saveConfig();
          await edit(run.scenario);
          const update = run.start();
          await update.said(told);
          await BREAK_OFF[how](run, update);
          stack.restoreConfig(before);
        },
        restarts,
      });
    }
  });
}
