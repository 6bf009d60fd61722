import { memberName } from "../../config/names";
import type { EtcdSpec } from "../../config/types";
import { finalStage } from "../stages";
import { memberBundleKey, normalizeTrust, trustRevision } from "../trust";
import { TRUST_BUNDLE_KEY } from "../trust-bundle";
import { type HostSet, renderHostSet } from "./host-set";
import { foldersOf, type HostFile, layoutOf, leafFiles, leafFolder, trustFiles } from "./layout";
import { makeFolder, makeUser, PUT, putFile, quote, shellScript } from "./script";

/** Certificates and CAs that are installed with a member, PEM. */
export interface HostMaterial {
  /** CA certificates that members accept. */
  ca: string;
  /** By the folder on the host: `server`, and `peer` and `client` where they have certificates of their own. */
  leaves: Record<string, { certificate: string; key: string }>;
}

/** The spec's members on the stage where they end, as they are installed first. */
export function renderInstalled(spec: EtcdSpec, ca: string | undefined, owner?: string): HostSet {
  const revision = spec.tls && ca !== undefined ? trustRevision(ca) : undefined;
  const template = { stage: finalStage(spec), ...(revision && { trustRevision: revision }) };
  return renderHostSet(spec, template, owner === undefined ? {} : { owner });
}

/** Every file of a member, in the order in which they are written. */
export function filesOf(
  spec: EtcdSpec,
  ordinal: number,
  material: HostMaterial | undefined,
  owner?: string,
): HostFile[] {
  const hosts = spec.hosts!;
  const { nextUnit, record, unit } = layoutOf(hosts);
  const set = renderInstalled(spec, material?.ca, owner);
  const text = set.spec.template.units[memberName(spec, ordinal)]!;
  const own = { mode: "0644", owner: "root:root" };
  return [
    ...(spec.tls && material ? materialFiles(spec, material) : []),
    { path: record, ...own, content: JSON.stringify(set.metadata.annotations) },
    { path: nextUnit, ...own, content: text },
    { path: unit, ...own, content: text },
  ];
}

function materialFiles(spec: EtcdSpec, { ca, leaves }: HostMaterial): HostFile[] {
  const pem = normalizeTrust(ca);
  const data = { [TRUST_BUNDLE_KEY]: pem, [memberBundleKey(trustRevision(ca))]: pem };
  const used = [...new Set(spec.tls?.certificates.map(({ secretName }) => secretName))];
  const files = used.flatMap((name) => (leaves[name] ? leafFiles(spec.hosts!, name, leaves[name]) : []));
  return [...trustFiles(spec.hosts!, data), ...files];
}

/**
 * A shell script that installs a member on its host, for hosts without SSH. It may run again and again; a member that
 * runs with other settings it leaves alone, because several must be changed one after the other.
 *
 * With TLS it holds private keys.
 */
export function installScript(spec: EtcdSpec, ordinal: number, material?: HostMaterial, owner?: string): string {
  const hosts = spec.hosts!;
  const files = filesOf(spec, ordinal, material, owner);
  const service = `${hosts.service}.service`;
  const folders = [...new Set(spec.tls?.certificates.map(({ secretName }) => secretName))];
  return shellScript([
    `# Installs the etcd member ${memberName(spec, ordinal)} of ${spec.name} as the systemd service ${service}.`,
    ...PUT,
    'stop() { echo "$1" >&2; exit 1; }',
    '[ "$(id -u)" = 0 ] || stop "must run as root"',
    `[ -x ${quote(hosts.binary)} ] || stop ${quote(`etcd is not at ${hosts.binary}: install it there first`)}`,
    ...refuseOtherSettings(spec, ordinal, files),
    ...makeUser(hosts),
    ...foldersOf(hosts).flatMap(makeFolder),
    ...folders.flatMap((name) => makeFolder(leafFolder(hosts, name))),
    ...files.flatMap(putFile),
    "systemctl daemon-reload",
    `systemctl enable ${quote(service)}`,
    // The first member waits for the others: nobody waits for it here.
    `systemctl ${spec.replicas === 1 ? "restart" : "start"} --no-block ${quote(service)}`,
  ]);
}

/** One member has no neighbours whom it could lose: it is restarted with whatever is new. */
function refuseOtherSettings(spec: EtcdSpec, ordinal: number, files: HostFile[]): string[] {
  if (spec.replicas === 1) return [];
  const { unit } = layoutOf(spec.hosts!);
  const text = files.find(({ path }) => path === unit)!.content;
  const hash = /^Environment="(PULUMI_ETCD_TEMPLATE_HASH=.*)"$/m.exec(text)?.[1] ?? "";
  const words = `${memberName(spec, ordinal)} is installed with other settings: members are changed one after the other, by pulumi up`;
  return [`[ ! -e ${unit} ] || grep -qF ${quote(hash)} ${unit} || stop ${quote(words)}`];
}

/** User data that makes cloud-init run the script once, on the host's first boot. With TLS it holds private keys. */
export function cloudInit(script: string): string {
  const path = "/run/pulumi-etcd-install.sh";
  return [
    "#cloud-config",
    "write_files:",
    `  - path: ${path}`,
    '    permissions: "0700"',
    "    encoding: b64",
    `    content: ${Buffer.from(script).toString("base64")}`,
    "runcmd:",
    `  - [sh, ${path}]`,
    `  - [rm, -f, ${path}]`,
    "",
  ].join("\n");
}
