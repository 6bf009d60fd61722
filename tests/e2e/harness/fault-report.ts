import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { RowFile, seconds, tableHead, tableLine } from "./rows";

/** What came of one fault. */
export interface FaultRow {
  /** The table that it stands in: that of its test file. */
  group: string;
  during: string;
  fault: string;
  /** Members' pods that took over from others, and how many had to. */
  restarts: number;
  needed: [least: number, most: number];
  /** Acknowledged writes of both clients, and those of them that were not read back. */
  written: number;
  lost: number;
  /** Failed writes of the client that tries again, and its slowest. */
  failed: number;
  longestMs: number;
  /** Whether two members were down at once. */
  twoDown: boolean;
  /** How the asked end was reached. */
  reached: string;
}

const rowFile = new RowFile<FaultRow>("faults.jsonl");

export function recordFault(row: FaultRow): void {
  rowFile.add(row);
}

/** Prints the tables of this run, and puts them in the place of those that the document has of the same groups. */
export function publishFaults(path = process.env.PULUMI_ETCD_E2E_FAULTS_REPORT): void {
  const rows = rowFile.read();
  if (!rows) return;
  process.stdout.write(`\n${mergeFaults("", rows)}\n`);
  if (!path) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, mergeFaults(existsSync(path) ? readFileSync(path, "utf8") : "", rows));
}

/** The document with the groups of these rows made anew, and all others as they were. */
export function mergeFaults(document: string, rows: FaultRow[]): string {
  const sections = new Map<string, string>();
  for (const section of document.split(/^(?=## )/m).slice(1)) {
    const [, heading = ""] = /^## (.*)$/m.exec(section) ?? [];
    sections.set(heading, section.trimEnd());
  }
  for (const group of new Set(rows.map((row) => row.group))) {
    sections.set(group, `## ${group}\n\n${faultTable(rows.filter((row) => row.group === group))}`);
  }
  return [INTRODUCTION, ...[...sections].sort(([a], [b]) => a.localeCompare(b)).map(([, text]) => text)]
    .join("\n\n")
    .concat("\n");
}

const INTRODUCTION = `# Faults

What comes of an update of three members when something goes wrong in the middle of it. Made by \`make test-faults\` on a
real cluster: Kubernetes, cert-manager, etcd and the Pulumi CLI are real, and so are the signals, deletions and stops.
Two clients write forty times a second each all the while. *Lost* are acknowledged writes that were not there in the
end; *failed* and *longest write* are those of the client that tries again (attempts of a second, for ten seconds in all,
and for twenty where a volume is lost). *Restarts* are members' pods that took over from others, beside the number that
had to (a range where it depends on who is faster); where two members were down at once, it says so. After each fault a
preview had to be empty. Faults that stop writes by themselves (no certificate is valid, no space is left) fail them until
they are mended.`;

const HEADINGS = ["during", "fault", "restarts", "writes", "lost", "failed", "longest write", "end state reached"];

export function faultTable(rows: FaultRow[]): string {
  const cells = rows.map((row) => [
    row.during,
    row.fault,
    restartsOf(row),
    String(row.written),
    String(row.lost),
    String(row.failed),
    seconds(row.longestMs),
    row.reached,
  ]);
  return [...tableHead(HEADINGS), ...cells.map(tableLine)].join("\n");
}

function restartsOf({ restarts, needed: [least, most], twoDown }: FaultRow): string {
  const compared = least === most ? ` of ${least}` : ` (${least} to ${most})`;
  return `${restarts}${compared}${twoDown ? ", two at once" : ""}`;
}
