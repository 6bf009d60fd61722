import { canonicalIp } from "../../config/formats";
import { inUrl, memberAddress } from "../../config/names";
import type { HostSpec, HostsSpec } from "../../config/types";
import type { MemberPlace } from "../place";
import { memberBundleKey } from "../trust";
import { TRUST_BUNDLE_KEY } from "../trust-bundle";
import type { MemberSpec } from "../types";

/** Where things lie on a host. */
export interface HostLayout {
  /** Certificates, one folder a leaf, and the trust bundle's. */
  tls: string;
  trust: string;
  /** What the engine keeps on the host: the next service file, the cluster's record, the lease. */
  state: string;
  nextUnit: string;
  record: string;
  /** The service file that systemd reads. */
  unit: string;
}

export function layoutOf({ configDir, service }: HostsSpec): HostLayout {
  const tls = `${configDir}/tls`;
  const state = `${configDir}/pulumi-etcd`;
  return {
    tls,
    trust: `${tls}/ca`,
    state,
    nextUnit: `${state}/next.service`,
    record: `${state}/cluster.json`,
    unit: `/etc/systemd/system/${service}.service`,
  };
}

/** A folder of the host. Modes as `chmod` takes them. */
export interface HostFolder {
  path: string;
  mode: string;
  /** Owner and group, as `chown` takes them. */
  owner: string;
}

export interface HostFile extends HostFolder {
  content: string;
}

/** Every folder that a member needs, parents first. etcd refuses a data directory that others may read. */
export function foldersOf(hosts: HostsSpec): HostFolder[] {
  const { tls, trust, state } = layoutOf(hosts);
  const root = "root:root";
  return [
    { path: hosts.configDir, mode: "0755", owner: root },
    { path: tls, mode: "0755", owner: root },
    { path: trust, mode: "0755", owner: root },
    { path: state, mode: "0755", owner: root },
    { path: hosts.dataDir, mode: "0700", owner: `${hosts.user}:${hosts.user}` },
  ];
}

/** A leaf's folder: etcd reads those of the servers and the peers; the client's is the administrator's alone. */
export function leafFolder(hosts: HostsSpec, name: string): HostFolder {
  const path = `${layoutOf(hosts).tls}/${name}`;
  return name === "client"
    ? { path, mode: "0700", owner: "root:root" }
    : { path, mode: "0750", owner: `root:${hosts.user}` };
}

/** Certificate first: for the moment between the two a handshake fails, and etcd reads both anew at the next. */
export function leafFiles(hosts: HostsSpec, name: string, leaf: { certificate: string; key: string }): HostFile[] {
  const { path, owner } = leafFolder(hosts, name);
  const keyMode = name === "client" ? "0600" : "0640";
  return [
    { path: `${path}/tls.crt`, mode: "0644", owner, content: leaf.certificate },
    { path: `${path}/tls.key`, mode: keyMode, owner, content: leaf.key },
  ];
}

/** The trust bundle's keys, each a file. */
export function trustFiles(hosts: HostsSpec, data: Record<string, string>): HostFile[] {
  const { trust } = layoutOf(hosts);
  return Object.entries(data).map(([key, content]) => ({
    path: `${trust}/${key}`,
    mode: "0644",
    owner: "root:root",
    content,
  }));
}

/**
 * A member on a host. It listens on the host's own address, and clients of the host itself find it on 127.0.0.1, as
 * metrics do alone.
 */
export function hostPlace(spec: MemberSpec, ordinal: number, trustRevision: string | undefined): MemberPlace {
  const hosts = spec.hosts!;
  const host = hosts.members[ordinal]!;
  const { tls, trust } = layoutOf(hosts);
  const own = inUrl(host.listenAddress);
  const folderOf = (alias: "server" | "peer") =>
    `${tls}/${spec.tls?.certificates.find((each) => each.alias === alias)?.secretName ?? alias}`;
  return {
    name: host.name,
    host: memberAddress(spec, ordinal),
    listen: {
      client: listensOnLoopback(host) ? [own] : [own, "127.0.0.1"],
      peer: own,
      metrics: metricsAddress(host),
    },
    dataDir: hosts.dataDir,
    server: folderOf("server"),
    peer: folderOf("peer"),
    trustFile: `${trust}/${trustRevision === undefined ? TRUST_BUNDLE_KEY : memberBundleKey(trustRevision)}`,
  };
}

function listensOnLoopback({ listenAddress }: HostSpec): boolean {
  return isAny(listenAddress) || listenAddress.startsWith("127.");
}

function isAny(address: string): boolean {
  return address === "0.0.0.0" || canonicalIp(address) === "::";
}

/** Plain http, so it is kept on the host. */
export function metricsAddress({ listenAddress }: HostSpec): string {
  return listenAddress.startsWith("127.") ? listenAddress : "127.0.0.1";
}

/** Where the host itself dials its member's ports. */
export function dialledAddress({ listenAddress }: HostSpec): string {
  return isAny(listenAddress) ? "127.0.0.1" : listenAddress;
}
