import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workFolder } from "./environment";

/** What one operation took, and what clients noticed of it. */
export interface ReportRow {
  case: string;
  operation: string;
  /** `pulumi up`, as the user waits for it. */
  updateMs: number;
  /** The walk alone. */
  walkMs: number;
  /** The members' restarts, added up: one after the other, they cannot take less. */
  floorMs: number;
  restarts: number;
  writers: { name: string; acknowledged: number; failed: number; longestMs: number }[];
}

const rowsFile = join(workFolder, "report.jsonl");

/** Test files run one by one but share nothing in memory, so rows are kept in a file. */
export function reportRow(row: ReportRow): void {
  mkdirSync(workFolder, { recursive: true });
  appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

/** Prints the table, and writes it where PULUMI_ETCD_E2E_REPORT says: `.json`, or Markdown with any other ending. */
export function publishReport(path = process.env.PULUMI_ETCD_E2E_REPORT): void {
  if (!existsSync(rowsFile)) return;
  const rows = readFileSync(rowsFile, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ReportRow);
  const table = markdown(rows);
  process.stdout.write(`\n${table}\n`);
  if (!path) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, path.endsWith(".json") ? `${JSON.stringify(rows, undefined, 2)}\n` : table);
}

const HEADINGS = [
  "case",
  "operation",
  "`pulumi up`",
  "walk",
  "sum of restarts",
  "restarts",
  "writes",
  "failed",
  "longest write",
];

export function markdown(rows: ReportRow[]): string {
  const cells = rows.map((row) => [
    row.case,
    row.operation,
    seconds(row.updateMs),
    seconds(row.walkMs),
    seconds(row.floorMs),
    String(row.restarts),
    perWriter(row, (writer) => String(writer.acknowledged)),
    perWriter(row, (writer) => String(writer.failed)),
    perWriter(row, (writer) => seconds(writer.longestMs)),
  ]);
  const lines = [HEADINGS, HEADINGS.map(() => "---"), ...cells].map((line) => `| ${line.join(" | ")} |`);
  return `${lines.join("\n")}\n`;
}

function perWriter(row: ReportRow, value: (writer: ReportRow["writers"][number]) => string): string {
  return row.writers.map((writer) => `${writer.name} ${value(writer)}`).join(", ") || "-";
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
