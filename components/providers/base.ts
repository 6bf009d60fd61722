import type * as pulumi from "@pulumi/pulumi";
import { ConfigError } from "../../config";
import { Refusal } from "../../rollout";
import { portsFor } from "./access";

export { same } from "../same";

/** Inputs that every dynamic resource has. */
export interface CommonInputs {
  /** URN of the resource itself: the row that progress is shown in. Never a difference. */
  resourceUrn: string;
  /** Whether this is a preview. Taken out by `check`: it would be a difference every time. */
  dryRun?: boolean;
  [key: string]: unknown;
}

export type CheckResult = { inputs: Record<string, unknown>; failures: { property: string; reason: string }[] };

/** What Pulumi puts in the place of a value that preview cannot know yet. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/**
 * Runs a check; whatever speaks against the update becomes a failure that the CLI prints beside the resource. The
 * failure names no property: the CLI would print the whole value of it, and the reason names the config path anyway.
 */
export async function check<P = Awaited<ReturnType<typeof portsFor>>>(
  news: CommonInputs,
  body: (ports: P) => Promise<Record<string, unknown>>,
  open: () => P | Promise<P> = () => portsFor(news.resourceUrn) as Promise<P>,
): Promise<CheckResult> {
  const { dryRun: _, ...inputs } = news;
  try {
    return { inputs: { ...inputs, ...(await body(await open())) }, failures: [] };
  } catch (error) {
    return { inputs, failures: reasons(error).map((reason) => ({ property: "", reason })) };
  }
}

function reasons(error: unknown): string[] {
  if (error instanceof Refusal || error instanceof ConfigError) return error.message.split("\n");
  return [error instanceof Error ? error.message : String(error)];
}

/**
 * `{}` leaves it to Pulumi, which shows field by field what is wanted otherwise than at the last update.
 *
 * What was found in the cluster is an input as well, and may be what was found before the last update: the same plan,
 * the same drift. Pulumi would see no difference then, so `found` is one by itself.
 */
export function diffWhen(wanted: boolean, found = false): pulumi.dynamic.DiffResult {
  if (wanted) return {};
  return { changes: found };
}
