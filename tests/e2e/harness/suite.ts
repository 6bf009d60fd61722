import { skipReason } from "./environment";

/** `describe` for what needs a cluster; without one it is reported as skipped, with the reason. */
export function describeOnCluster(name: string, body: () => void): void {
  const reason = skipReason();
  if (reason === undefined) describe(name, body);
  else describe.skip(`${name} [skipped: ${reason}]`, body);
}

/** As `test`. */
export type Step = (name: string, body: () => Promise<void> | void, timeoutMs?: number) => void;

/**
 * Tests that build on each other: once one fails, those after it fail at once and name it, instead of each running
 * into its own time limit.
 */
export function steps(): Step {
  let failed: string | undefined;
  return (name, body, timeoutMs) => {
    test(
      name,
      async () => {
        if (failed) throw notTried(`"${failed}" failed`);
        try {
          await body();
        } catch (error) {
          failed = expect.getState().currentTestName ?? name;
          throw error;
        }
      },
      timeoutMs,
    );
  };
}

/** Where it comes from is of no interest: the failure that it names is. */
export function notTried(reason: string): Error {
  const error = new Error(`not tried, because ${reason}`);
  error.stack = error.message;
  return error;
}
