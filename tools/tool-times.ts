import { appendFileSync } from "node:fs";

/** How long a tool took, in seconds of the clock. */
export interface ToolTime {
  name: string;
  seconds: number;
}

/** PULUMI_ETCD_TOOL_TIMES names a file that gets a line of JSON for each tool that was made. */
export function recordTime(name: string, seconds: number): void {
  const file = process.env.PULUMI_ETCD_TOOL_TIMES;
  if (file) appendFileSync(file, `${JSON.stringify({ name, seconds } satisfies ToolTime)}\n`);
}
