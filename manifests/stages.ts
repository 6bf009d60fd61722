import type { EtcdSpec } from "../config/types";
import { CLIENT_STAGE, PEER_STAGE } from "./annotations";
import type { PlaneStage, Stage } from "./types";

/** No TLS material at all. */
export const PLAIN: Stage = { peer: "plain", client: "plain" };
/** Listens http to peers but can dial https; serves both schemes to clients. Works next to `PLAIN` and `TLS`. */
export const BRIDGE: Stage = { peer: "bridge", client: "bridge" };
/** https only on both planes. */
export const TLS: Stage = { peer: "tls", client: "tls" };

/** The stage that every member is on once the spec is reached: with plaintext held, the peers are done all the same. */
export function finalStage(spec: Pick<EtcdSpec, "tls">): Stage {
  if (!spec.tls) return PLAIN;
  return spec.tls.client.alsoPlaintext ? { peer: "tls", client: "bridge" } : TLS;
}

/** The stage that a pod, or a workload's pod template, says it is on; undefined where it says nothing valid. */
export function stageOf(annotations: Record<string, string> | undefined): Stage | undefined {
  const peer = annotations?.[PEER_STAGE];
  const client = annotations?.[CLIENT_STAGE];
  return isPlaneStage(peer) && isPlaneStage(client) ? { peer, client } : undefined;
}

function isPlaneStage(value: string | undefined): value is PlaneStage {
  return value === "plain" || value === "bridge" || value === "tls";
}
