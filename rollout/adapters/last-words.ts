/** What etcd says when its data is gone while the others know it as a member that had data. */
const DATA_GONE = /has already been bootstrapped/;

const REPLACE =
  "its data is gone, and it cannot join again as it is: take it out of the membership and add it anew (etcdctl member remove, etcdctl member add), and start it once with --initial-cluster-state=existing";

/** Levels of etcd's log that say why it ended. */
const GRAVE = new Set(["fatal", "panic", "error"]);

/**
 * Why a container ended, from its termination message: that is the end of its log, of which etcd's own last grave
 * line says it shortest. Begins with a colon and a space; empty without a message.
 */
export function lastWords(message: string | undefined): string {
  const text = message?.trim();
  if (!text) return "";
  const said = text.split("\n").map(graveLine).findLast(Boolean) ?? text;
  return `: ${said}${DATA_GONE.test(said) ? `; ${REPLACE}` : ""}`;
}

function graveLine(line: string): string | undefined {
  try {
    const { level, msg, error } = JSON.parse(line) as { level?: string; msg?: string; error?: string };
    return GRAVE.has(level ?? "") ? [msg, error].filter(Boolean).join(": ") : undefined;
  } catch {
    // Not every line is etcd's log, and the first may be cut.
    return undefined;
  }
}
