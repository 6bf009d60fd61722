import { onScenario } from "./case";
import { OVER_TLS } from "./change";
import { describeFault } from "./expect-fault";
import { describeCreation } from "./expectations";
import type { Fault, FaultRun } from "./fault";
import { makeIssuer } from "./issuers";
import type { Scenario } from "./scenario";
import { describeOnCluster } from "./suite";

/** More steps than any operation has. */
const ENOUGH = 40;

/** Which of the operation's steps an update is killed after; the others are for the other file. */
export type Half = "odd" | "even";

const OPERATIONS: Record<string, Pick<Fault, "during" | "from" | "to"> & { edit: (each: Scenario) => Promise<void> }> =
  {
    add: { during: "adding TLS", from: "http", to: "https", edit: (each) => each.addTls() },
    remove: { during: "removing TLS", from: "https", to: "http", edit: (each) => each.removeTls() },
    issuer: {
      ...OVER_TLS,
      during: "another issuer",
      edit: ({ stack }) => stack.set({ "etcd:tls.issuerRef.name": "other-ca" }),
    },
  };

/**
 * An operation that is killed again and again: after a step, and after every second one that the next update does, the
 * CLI and the provider in turn. Both halves together have it killed after each of its steps.
 */
export function describeKills(operation: keyof typeof OPERATIONS, half: Half): void {
  const wanted = OPERATIONS[operation];
  if (!wanted) throw new Error(`there is no operation ${operation}`);
  describeOnCluster(`faults: ${wanted.during} is killed after its ${half} steps`, () => {
    const { step, current } = onScenario(
      { name: `kill-${operation}-${half}`, replicas: 3, issuerKind: "Issuer" },
      async (scenario) => {
        if (operation === "issuer") await makeIssuer(scenario.kube, scenario.namespace, "other-ca");
        if (wanted.from === "https") await scenario.addTls();
      },
    );

    describeCreation(`created over ${wanted.from}`, step, current, wanted.from);

    describeFault(`Killed after each step: ${wanted.during}, ${half} steps`, step, current, {
      ...wanted,
      fault: "the CLI and the provider are killed in turn, and the update is run again",
      happens: async (run) => {
        const killed = await killEverySecondStep(run, half);
        process.stderr.write(`killed after: ${killed.join(" | ")}\n`);
        expect(killed.length).toBeGreaterThanOrEqual(4);
      },
      restarts: 6,
    });
  });
}

async function killEverySecondStep(run: FaultRun, half: Half): Promise<string[]> {
  const killed: string[] = [];
  while (killed.length < ENOUGH) {
    const update = run.start();
    const first = killed.length === 0;
    // The issuer is asked by every update until the members have been made to trust it: that is no step further.
    const repeated = !first && (await update.stepsDone(1))?.startsWith("ask ") ? 1 : 0;
    const step = await update.stepsDone((first && half === "odd" ? 1 : 2) + repeated);
    if (step === undefined) {
      await update.succeed();
      return killed;
    }
    killed.push(step);
    if (killed.length % 2 === 1) await run.killCli(update);
    else await run.killProvider(update);
  }
  throw new Error(`no end after ${ENOUGH} updates: ${killed.join(" | ")}`);
}
