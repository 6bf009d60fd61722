import { OVER_TLS } from "./change";
import { eventually } from "./command";
import { describeFault } from "./expect-fault";
import type { Scenario } from "./scenario";
import type { steps } from "./suite";
import { renewUnattended } from "./unattended";

const GROUP = "Renewals that nobody attended to";

/** Members whose CA and leaves were renewed with no update in between, and pods that are deleted then. */
export function describeRepair(
  step: ReturnType<typeof steps>,
  current: () => Scenario,
  what: string,
  deleted: string[],
): void {
  describeFault(GROUP, step, current, {
    ...OVER_TLS,
    during: "an update without a change",
    fault: `the CA behind the issuer was renewed with another key, then every leaf; ${what}`,
    happens: async (run) => {
      const { scenario } = run;
      await renewUnattended(scenario);
      const before = new Map((await scenario.pods()).map(({ name, uid }) => [name, uid]));
      for (const name of deleted) await scenario.kube.delete("v1", "Pod", name, scenario.namespace);
      await eventually("the deleted pods to be there again", 120_000, async () => {
        const pods = await scenario.pods();
        return (
          deleted.every((name) => pods.some((pod) => pod.name === name && pod.uid !== before.get(name))) || undefined
        );
      });
      const { stdout } = await scenario.stack.preview();
      expect(stdout).toContain("repair: set the member template to tls");
      expect(stdout.match(/repair: restart etcd-\d/g)).toHaveLength(3);
      expect(stdout).toContain("repair: writes pause for about one restart");
      await run.start().succeed();
    },
    restarts: deleted.length + 6,
    failedStarts: deleted.length,
    stopsWrites: "members refuse every client, and then each other",
  });
}
