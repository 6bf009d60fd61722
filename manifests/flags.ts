import {
  CLIENT_PORT,
  headlessServiceName,
  type Identity,
  METRICS_PORT,
  memberName,
  PEER_PORT,
  peerUrl,
} from "../config/names";
import { DATA_PATH, PEER_PATH, SERVER_PATH, TRUST_PATH } from "./paths";
import { TRUST_BUNDLE_KEY } from "./trust-bundle";
import type { MemberSpec, PlaneStage, Stage } from "./types";

/**
 * A member's etcd flags on a stage. The user's own come after the addresses, by name; TLS last of all, so that its
 * coming and going shifts no other flag in a preview, which compares lists by position.
 */
export function flags(spec: MemberSpec, stage: Stage): string[] {
  return [
    "--name=$(POD_NAME)",
    `--data-dir=${DATA_PATH}`,
    // Plain http in every stage: the kubelet's probes have no certificate.
    `--listen-metrics-urls=http://0.0.0.0:${METRICS_PORT}`,
    ...peerUrlFlags(spec, stage.peer),
    ...clientUrlFlags(spec, stage.client),
    ...bootstrapFlags(spec, stage.peer),
    ...extraFlags(spec),
    ...peerTlsFlags(stage.peer),
    ...clientTlsFlags(spec, stage.client),
    ...protocolFlags(spec, stage),
  ];
}

/**
 * The peer plane. A bridge listens http, so that members without TLS reach it, and has the material to dial members
 * that listen https: one peer port cannot serve both.
 */
function peerUrlFlags(spec: MemberSpec, stage: PlaneStage): string[] {
  const scheme = listenScheme(stage);
  return [
    `--listen-peer-urls=${scheme}://0.0.0.0:${PEER_PORT}`,
    `--initial-advertise-peer-urls=${scheme}://${ownHost(spec)}:${PEER_PORT}`,
  ];
}

function peerTlsFlags(stage: PlaneStage): string[] {
  return stage === "plain" ? [] : [...leafFlags("peer-", PEER_PATH), ...trustFlags("peer-")];
}

/** The client plane. A bridge serves both schemes on one port; etcd asks for https to be listed first. */
function clientUrlFlags(spec: MemberSpec, stage: PlaneStage): string[] {
  const schemes = { plain: ["http"], bridge: ["https", "http"], tls: ["https"] }[stage];
  const urls = (host: string) => schemes.map((scheme) => `${scheme}://${host}:${CLIENT_PORT}`).join(",");
  return [`--listen-client-urls=${urls("0.0.0.0")}`, `--advertise-client-urls=${urls(ownHost(spec))}`];
}

function clientTlsFlags(spec: MemberSpec, stage: PlaneStage): string[] {
  if (stage === "plain") return [];
  return [...leafFlags("", SERVER_PATH), ...(asksClients(spec) ? trustFlags("") : [])];
}

/** Whether clients must show a certificate where they speak TLS. */
export function asksClients({ tls }: MemberSpec): boolean {
  return tls?.client?.auth !== "none";
}

type Plane = "" | "peer-";

function leafFlags(plane: Plane, path: string): string[] {
  return [`--${plane}cert-file=${path}/tls.crt`, `--${plane}key-file=${path}/tls.key`];
}

/** The CA file alone makes etcd ask for certificates already: it is both or none. */
function trustFlags(plane: Plane): string[] {
  return [`--${plane}trusted-ca-file=${TRUST_PATH}/${TRUST_BUNDLE_KEY}`, `--${plane}client-cert-auth=true`];
}

/** Of both planes, wherever one has TLS material. */
function protocolFlags({ tls }: MemberSpec, stage: Stage): string[] {
  if (stage.peer === "plain" && stage.client === "plain") return [];
  const { minVersion, cipherSuites = [] } = tls ?? {};
  return [
    ...(minVersion === undefined ? [] : [`--tls-min-version=${minVersion}`]),
    ...(cipherSuites.length === 0 ? [] : [`--cipher-suites=${cipherSuites.join(",")}`]),
  ];
}

/** Read once, when a member has no data yet; after that the addresses in the membership count. */
function bootstrapFlags(spec: MemberSpec, peerStage: PlaneStage): string[] {
  const ordinals = Array.from({ length: spec.replicas }, (_, ordinal) => ordinal);
  const members = ordinals.map((i) => `${memberName(spec, i)}=${peerUrl(spec, i, listenScheme(peerStage))}`);
  return [
    `--initial-cluster=${members.join(",")}`,
    "--initial-cluster-state=new",
    // Two clusters that meet by mistake, by a reused address, refuse each other.
    `--initial-cluster-token=${spec.namespace}/${spec.name}`,
  ];
}

function extraFlags(spec: MemberSpec): string[] {
  const names = Object.keys(spec.extraArgs).sort();
  return names.map((name) => `--${name}=${spec.extraArgs[name]}`);
}

function listenScheme(peerStage: PlaneStage): "http" | "https" {
  return peerStage === "tls" ? "https" : "http";
}

/** The member's own name, which the kubelet fills in. */
function ownHost(spec: Identity): string {
  return `$(POD_NAME).${headlessServiceName(spec)}.${spec.namespace}.svc.${spec.clusterDomain}`;
}
