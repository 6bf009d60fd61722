import { onScenario } from "./case";
import { OVER_TLS } from "./change";
import { describeFault } from "./expect-fault";
import { describeCreation } from "./expectations";
import type { Fault, FaultRun } from "./fault";
import { makeIssuer } from "./issuers";
import type { Scenario } from "./scenario";
import { describeOnCluster } from "./suite";
import type { Update } from "./update";

/** More steps than any operation has. */
const ENOUGH = 40;

/** These are done by every update until what they are for is done: once killed after, they are no step further. */
const REPEATED = /^(ask |wait until every member serves)/;

/** An operation that is broken off in the middle, again and again. */
export const OPERATIONS = {
  add: { during: "adding TLS", from: "http", to: "https", edit: (each: Scenario) => each.addTls() },
  remove: { during: "removing TLS", from: "https", to: "http", edit: (each: Scenario) => each.removeTls() },
  issuer: {
    ...OVER_TLS,
    during: "another issuer",
    edit: ({ stack }: Scenario) => stack.set({ "etcd:tls.issuerRef.name": "other-ca" }),
  },
} satisfies Record<string, Pick<Fault, "during" | "from" | "to"> & { edit: (each: Scenario) => Promise<void> }>;

export type Operation = keyof typeof OPERATIONS;

interface End {
  /** In the table of docs/faults.md. */
  words: string;
  bring: (run: FaultRun, update: Update) => Promise<void>;
  /** How often at least an operation is broken off so: what goes on for a while does some steps more. */
  atLeast: number;
}

/** How an update comes to its end too early. */
const ENDS = {
  cli: { words: "the CLI is killed", bring: (run, update) => run.killCli(update), atLeast: 4 },
  provider: { words: "the provider is killed", bring: (run, update) => run.killProvider(update), atLeast: 8 },
  // Pulumi lets the resource in hand come to its end: one of a walk is a whole pass or more.
  interrupted: { words: "Ctrl-C", bring: (run, update) => run.interrupt(update), atLeast: 1 },
} satisfies Record<string, End>;

/** Brings a scenario to where the operation begins. */
export async function prepareFor(operation: Operation, scenario: Scenario): Promise<void> {
  if (operation === "issuer") await makeIssuer(scenario.kube, scenario.namespace, "other-ca");
  if (OPERATIONS[operation].from === "https") await scenario.addTls();
}

/** An operation that is broken off after a step, and after the next one that the next update does, until it is done. */
export function describeKills(operation: Operation, how: keyof typeof ENDS): void {
  const wanted = OPERATIONS[operation];
  const end = ENDS[how];
  describeOnCluster(`faults: ${wanted.during}, ${end.words} after each step`, () => {
    const { step, current } = onScenario(
      { name: `kill-${operation}-${how}`, replicas: 3, issuerKind: "Issuer" },
      (scenario) => prepareFor(operation, scenario),
    );

    describeCreation(`created over ${wanted.from}`, step, current, wanted.from);

    describeFault(`Broken off after each step: ${wanted.during}`, step, current, {
      ...wanted,
      fault: `${end.words} after a step, and after the first that the next update does, and so on`,
      happens: async (run) => {
        const last = await breakOffEachStep(run, end);
        process.stderr.write(`${end.words} after: ${last.join(" | ")}\n`);
        expect(last.length).toBeGreaterThanOrEqual(end.atLeast);
      },
      restarts: 6,
    });
  });
}

/** Returns the steps that were the last to be told before each end. */
async function breakOffEachStep(run: FaultRun, end: End): Promise<string[]> {
  const last: string[] = [];
  while (last.length < ENOUGH) {
    const update = run.start();
    const step = await firstNewStep(update, last);
    if (step === undefined) {
      await update.succeed();
      return last;
    }
    last.push(step);
    await end.bring(run, update);
  }
  throw new Error(`no end after ${ENOUGH} updates: ${last.join(" | ")}`);
}

async function firstNewStep(update: Update, before: string[]): Promise<string | undefined> {
  for (let count = 1; ; count++) {
    const step = await update.stepsDone(count);
    if (step === undefined || !REPEATED.test(step) || !before.includes(step)) return step;
  }
}
