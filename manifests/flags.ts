import { CLIENT_PORT, METRICS_PORT, memberName, PEER_PORT, peerUrl } from "../config/names";
import type { MemberPlace } from "./place";
import type { MemberSpec, PlaneStage, Stage } from "./types";

/**
 * A member's etcd flags on a stage, where it runs. The user's own come after the addresses, by name; TLS last of all,
 * so that its coming and going shifts no other flag in a preview, which compares lists by position.
 */
export function flags(spec: MemberSpec, stage: Stage, place: MemberPlace): string[] {
  return [
    `--name=${place.name}`,
    `--data-dir=${place.dataDir}`,
    // Plain http in every stage: probes have no certificate.
    `--listen-metrics-urls=http://${place.listen.metrics}:${METRICS_PORT}`,
    ...peerUrlFlags(place, stage.peer),
    ...clientUrlFlags(place, stage.client),
    ...bootstrapFlags(spec, stage.peer),
    ...extraFlags(spec),
    ...peerTlsFlags(place, stage.peer),
    ...clientTlsFlags(spec, place, stage.client),
    ...protocolFlags(spec, stage),
  ];
}

/**
 * The peer plane. A bridge listens http, so that members without TLS reach it, and has the material to dial members
 * that listen https: one peer port cannot serve both.
 */
function peerUrlFlags({ listen, host }: MemberPlace, stage: PlaneStage): string[] {
  const scheme = listenScheme(stage);
  return [
    `--listen-peer-urls=${scheme}://${listen.peer}:${PEER_PORT}`,
    `--initial-advertise-peer-urls=${scheme}://${host}:${PEER_PORT}`,
  ];
}

function peerTlsFlags(place: MemberPlace, stage: PlaneStage): string[] {
  return stage === "plain" ? [] : [...leafFlags("peer-", place.peer), ...trustFlags("peer-", place)];
}

/** The client plane. A bridge serves both schemes on one port; etcd asks for https to be listed first. */
function clientUrlFlags({ listen, host }: MemberPlace, stage: PlaneStage): string[] {
  const schemes = { plain: ["http"], bridge: ["https", "http"], tls: ["https"] }[stage];
  const urls = (hosts: string[]) =>
    schemes.flatMap((scheme) => hosts.map((each) => `${scheme}://${each}:${CLIENT_PORT}`)).join(",");
  return [`--listen-client-urls=${urls(listen.client)}`, `--advertise-client-urls=${urls([host])}`];
}

function clientTlsFlags(spec: MemberSpec, place: MemberPlace, stage: PlaneStage): string[] {
  if (stage === "plain") return [];
  return [...leafFlags("", place.server), ...(asksClients(spec) ? trustFlags("", place) : [])];
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
function trustFlags(plane: Plane, { trustFile }: MemberPlace): string[] {
  return [`--${plane}trusted-ca-file=${trustFile}`, `--${plane}client-cert-auth=true`];
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
    `--initial-cluster-token=${bootstrapToken(spec, peerStage)}`,
  ];
}

/**
 * Two clusters that meet by mistake, by a reused address, refuse each other.
 *
 * A member without data asks the others whether it had any before, and then refuses to start. On a bridge it may reach
 * none of them, for they listen by another scheme. It would take its old place with an empty log, and vote as if nothing
 * had been committed: with a token that no cluster began with, it is a member of none.
 */
function bootstrapToken({ namespace, name }: MemberSpec, peerStage: PlaneStage): string {
  return `${namespace}/${name}${peerStage === "bridge" ? "/bridge" : ""}`;
}

function extraFlags(spec: MemberSpec): string[] {
  const names = Object.keys(spec.extraArgs).sort();
  return names.map((name) => `--${name}=${spec.extraArgs[name]}`);
}

function listenScheme(peerStage: PlaneStage): "http" | "https" {
  return peerStage === "tls" ? "https" : "http";
}
