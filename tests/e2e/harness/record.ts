import type { PulumiStack } from "./pulumi";

/** What the resources that walk members have recorded of an update. */
export interface Recorded {
  operation?: string;
  steps: string[];
  durationMs: number;
  restarts: { member: string; pass: string; durationMs: number; wasLeader: boolean }[];
  /** With the time of each: they tell whether a resource took part in an update. */
  conditions?: unknown[];
}

/** In the order in which they come in an update. */
const TYPES = ["TrustBundle", "Rollout"] as const;

export type Records = Partial<Record<(typeof TYPES)[number], Recorded>>;

/** What each of them has recorded so far, from the state. */
export async function readRecords(stack: PulumiStack): Promise<Records> {
  const state = JSON.parse(await stack.exportState()) as {
    deployment: { resources?: { type: string; outputs?: unknown }[] };
  };
  const found = TYPES.flatMap((type) => {
    const resource = state.deployment.resources?.find((each) => each.type.endsWith(`dynamic/etcd:${type}`));
    return resource ? [[type, resource.outputs as Recorded] as const] : [];
  });
  return Object.fromEntries(found);
}

/** What was done between two looks: a resource that was not part of the update still has its older record. */
export function recordedBetween(before: Records, after: Records): Recorded {
  const parts = TYPES.flatMap((type) => {
    const part = after[type];
    return part?.steps && JSON.stringify(part.conditions) !== JSON.stringify(before[type]?.conditions) ? [part] : [];
  });
  return {
    ...(after.Rollout?.operation && { operation: after.Rollout.operation }),
    steps: parts.flatMap((part) => part.steps),
    durationMs: parts.reduce((sum, part) => sum + part.durationMs, 0),
    restarts: parts.flatMap((part) => part.restarts),
  };
}
