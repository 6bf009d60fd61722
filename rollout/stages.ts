import type { PlaneStage, Stage } from "../manifests/types";

const RANK: Record<PlaneStage, number> = { plain: 0, bridge: 1, tls: 2 };

const BRIDGE: Stage = { peer: "bridge", client: "bridge" };

/** Whether members on these two stages can talk both ways, on both planes. */
export function adjacent(a: Stage, b: Stage): boolean {
  return Math.abs(RANK[a.peer] - RANK[b.peer]) <= 1 && Math.abs(RANK[a.client] - RANK[b.client]) <= 1;
}

export function sameStage(a: Stage, b: Stage): boolean {
  return a.peer === b.peer && a.client === b.client;
}

/**
 * The stages to walk through so that no two neighbours are ever more than one step apart.
 *
 * A single member has no neighbour to keep talking to: it goes straight to the target, with one gap
 * instead of two.
 */
export function stagesToWalk(running: Stage[], target: Stage, replicas: number): Stage[] {
  const direct = replicas === 1 || running.every((stage) => adjacent(stage, target));
  return direct ? [target] : [BRIDGE, target];
}

/** The stages as plans name them: one word for both planes, or the client plane told apart. */
export function stageName(stage: Stage): string {
  return stage.peer === stage.client ? stage.peer : `${stage.peer} (clients: ${stage.client})`;
}
