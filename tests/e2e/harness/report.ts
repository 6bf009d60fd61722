import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { RowFile, seconds, tableHead, tableLine } from "./rows";

/** What one operation took, and what clients noticed of it. */
export interface ReportRow {
  case: string;
  operation: string;
  /** `pulumi up`, without the preview that was seen before. */
  updateMs: number;
  /** As above, of an update that has nothing to do. */
  idleMs: number;
  /** The engine's part: certificates, waits and restarts. */
  walkMs: number;
  /** The members' restarts, added up: one after the other, they cannot take less. */
  floorMs: number;
  passes: number;
  restarts: number;
  writers: { name: string; acknowledged: number; failed: number; longestMs: number }[];
}

const rowFile = new RowFile<ReportRow>("report.jsonl");

export function reportRow(row: ReportRow): void {
  rowFile.add(row);
}

/**
 * Prints the table, and writes it where PULUMI_ETCD_E2E_REPORT says: `.json`, or Markdown with any other ending.
 * Rows of cases that were not part of this run stay in a Markdown report as they are.
 */
export function publishReport(path = process.env.PULUMI_ETCD_E2E_REPORT): void {
  const rows = rowFile.read();
  if (!rows) return;
  process.stdout.write(`\n${markdown(rows)}\n`);
  if (!path) return;
  mkdirSync(dirname(path), { recursive: true });
  const earlier = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(
    path,
    path.endsWith(".json")
      ? `${JSON.stringify(rows, undefined, 2)}\n`
      : `${introduction()}\n${markdown(rows, rowsOfOthers(earlier, rows))}`,
  );
}

/** The lines of an earlier report whose cases are not among the rows. */
export function rowsOfOthers(report: string, rows: ReportRow[]): string[] {
  const cases = new Set(rows.map((row) => row.case));
  const lines = report.split("\n").filter((line) => line.startsWith("| "));
  // An older table with other columns would not fit under these headings.
  if (lines[0] !== tableLine(HEADINGS)) return [];
  return lines.slice(2).filter((line) => !cases.has(line.split(" | ")[0]?.slice(2) ?? ""));
}

function introduction(): string {
  return `# What operations take

Made by the end-to-end suite on a real cluster, while two clients write forty times a second each: \`make test-full\`,
or any run of the suite with \`PULUMI_ETCD_E2E_REPORT\` naming this file.

This was a machine of ${cpus().length} cores on which Kubernetes, etcd, cert-manager, Pulumi and both clients ran at once, beside
other work. Absolute times say more about that than about an operation; the ratio \`wall / floor\` is what counts. The
floor is what no update can go below: an update with nothing to do, and the members' restarts one after the other.
Zero restarts mean zero: no pod and no container began anew. The client \`go\` is Go's clientv3 without retries of its
own, \`node\` is etcd3 with attempts of a second, repeated for ten; what is acknowledged has been read back afterwards.
`;
}

const HEADINGS = [
  "case",
  "operation",
  "passes",
  "restarts",
  "`pulumi up`",
  "nothing to do",
  "sum of restarts",
  "wall / floor",
  "writes",
  "failed",
  "longest write",
];

export function markdown(rows: ReportRow[], others: string[] = []): string {
  const cells = rows.map((row) => [
    row.case,
    row.operation,
    String(row.passes),
    String(row.restarts),
    seconds(row.updateMs),
    seconds(row.idleMs),
    seconds(row.floorMs),
    // What no update can go below: one that has nothing to do, and the restarts one after the other.
    (row.updateMs / (row.idleMs + row.floorMs)).toFixed(2),
    perWriter(row, (writer) => String(writer.acknowledged)),
    perWriter(row, (writer) => String(writer.failed)),
    perWriter(row, (writer) => seconds(writer.longestMs)),
  ]);
  const lines = [...others, ...cells.map(tableLine)].sort(byCase);
  return `${[...tableHead(HEADINGS), ...lines].join("\n")}\n`;
}

/** Within a case the order is that of the operations. */
function byCase(a: string, b: string): number {
  const [caseA = "", caseB = ""] = [a, b].map((line) => line.split(" | ")[0]);
  return caseA.localeCompare(caseB);
}

function perWriter(row: ReportRow, value: (writer: ReportRow["writers"][number]) => string): string {
  return row.writers.map((writer) => `${writer.name} ${value(writer)}`).join(", ") || "-";
}
