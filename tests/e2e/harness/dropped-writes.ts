import type { WriteEvent } from "../writer/ledger";
import type { Leadership } from "./leadership";

/** Leaders are sampled several times a second: a move is seen this much after it was made, at most. */
const SEEN_LATE_MS = 500;
/** Clocks are one machine's, but what is sampled is when a question was asked, not when it was answered. */
const SEEN_EARLY_MS = 50;

export interface ExplainedFailures {
  /** Failed writes that had been on their way when the leader changed. */
  dropped: WriteEvent[];
  /** All others. */
  unexplained: WriteEvent[];
}

/**
 * Tells the failures apart that etcd itself is the cause of: while leadership is handed over, for some milliseconds,
 * raft drops proposals without an answer, and a client waits for one until its deadline. Clients that try again, as
 * etcd's documentation asks them to, never see it.
 */
export function explainFailures(failures: WriteEvent[], elections: Leadership[]): ExplainedFailures {
  const atElection = ({ at }: WriteEvent) =>
    elections.some((election) => at >= election.at - SEEN_LATE_MS && at <= election.until + SEEN_EARLY_MS);
  return {
    dropped: failures.filter(atElection),
    unexplained: failures.filter((failure) => !atElection(failure)),
  };
}
