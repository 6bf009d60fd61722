import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { workFolder } from "./environment";

/** Rows of a report. Test files run one by one but share nothing in memory, so they are kept in a file. */
export class RowFile<Row> {
  readonly #path: string;

  constructor(name: string) {
    this.#path = join(workFolder, name);
  }

  add(row: Row): void {
    mkdirSync(workFolder, { recursive: true });
    appendFileSync(this.#path, `${JSON.stringify(row)}\n`);
  }

  /** Those of this run; undefined where there are none. */
  read(): Row[] | undefined {
    if (!existsSync(this.#path)) return undefined;
    const lines = readFileSync(this.#path, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Row);
  }
}

/** A line of a Markdown table. */
export function tableLine(cells: string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** The two lines that a Markdown table begins with. */
export function tableHead(headings: string[]): string[] {
  return [tableLine(headings), tableLine(headings.map(() => "---"))];
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
