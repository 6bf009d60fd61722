import type { Ports } from "./ports";

/** More is told: leaves that were just issued begin now, and cert-manager renews by the clock of its own machine. */
const TOLERATED_MS = 5 * 60_000;

/**
 * What is wrong with this machine's wall clock, judged by the API server's: validity of certificates is judged by it.
 * `undefined`: nothing, or the server does not tell the time.
 */
export async function clockSkew({ kube, clock }: Pick<Ports, "kube" | "clock">): Promise<string | undefined> {
  const theirs = await kube.ping();
  if (theirs === undefined) return undefined;
  const skew = clock.now() - theirs;
  if (Math.abs(skew) <= TOLERATED_MS) return undefined;
  const minutes = Math.round(Math.abs(skew) / 60_000);
  const times = `${new Date(clock.now()).toISOString()} here, ${new Date(theirs).toISOString()} there`;
  return `the clock of this machine is ${minutes} minutes ${skew > 0 ? "ahead of" : "behind"} the API server's (${times}): certificates are judged by it, and may be taken for expired or not valid yet. Set it right, or the server's if that one is wrong`;
}
