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
  return `: ${said}`;
}

function graveLine(line: string): string | undefined {
  // Go's own words, before the stack; etcd's line of the same may have been cut.
  if (/^(panic|fatal error): /.test(line)) return line;
  try {
    const { level, msg, error } = JSON.parse(line) as { level?: string; msg?: string; error?: string };
    return GRAVE.has(level ?? "") ? [msg, error].filter(Boolean).join(": ") : undefined;
  } catch {
    // Not every line is etcd's log, and the first may be cut.
    return undefined;
  }
}
