import { createHash, createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { HostAccess } from "../../../config/types";
import { expandHome } from "./paths";

/** Names of key types in the algorithms of a handshake: an RSA key signs in several ways. */
const ALGORITHMS: Record<string, string[]> = { "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256"] };

/** Those of `ssh2`, best first. */
const KNOWN_TYPES = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"];

/** What a host must show of itself. Made before anything is sent to it. */
export interface ExpectedKey {
  /** Whether a key, as the protocol has it, is the host's; otherwise why not. */
  objection(key: Buffer): string | undefined;
  /** Algorithms to ask for, so that a host with several keys shows the one that is known; absent: any. */
  algorithms?: string[];
}

/** @throws Error where nothing is known of the host: its key is never taken on trust. */
export function expectedKey(access: HostAccess): ExpectedKey {
  const { hostKey } = access;
  if (hostKey?.startsWith("SHA256:")) return pinnedFingerprint(hostKey);
  if (hostKey !== undefined) return oneOf([encoded(hostKey)], "the config has another");
  const file = expandHome(access.knownHosts ?? "~/.ssh/known_hosts");
  const hint = `Put the key there (ssh-keyscan, compared with the host's own ssh-keygen -lf), or set hosts[].ssh.hostKey`;
  if (!existsSync(file)) throw new Error(`its key is not known: ${file} does not exist. ${hint}`);
  const { keys, revoked } = knownKeys(readFileSync(file, "utf8"), access.host, access.port);
  if (keys.length === 0) throw new Error(`its key is not known: ${file} has no line for ${nameOf(access)}. ${hint}`);
  const expected = oneOf(keys, `${file} has another`);
  const objection = (key: Buffer) =>
    revoked.includes(key.toString("base64")) ? `${describe(key)} is revoked in ${file}` : expected.objection(key);
  return { ...expected, objection };
}

function pinnedFingerprint(pinned: string): ExpectedKey {
  const wanted = pinned.replace(/=+$/, "");
  return {
    objection: (key) =>
      fingerprint(key) === wanted ? undefined : `it shows ${describe(key)}, and the config has ${wanted}`,
  };
}

function oneOf(keys: string[], otherwise: string): ExpectedKey {
  const types = keys.map((key) => typeOf(Buffer.from(key, "base64")));
  const algorithms = KNOWN_TYPES.filter((type) => types.includes(type)).flatMap((type) => ALGORITHMS[type] ?? [type]);
  return {
    objection: (key) =>
      keys.includes(key.toString("base64")) ? undefined : `it shows ${describe(key)}, and ${otherwise}`,
    ...(algorithms.length > 0 && { algorithms }),
  };
}

function describe(key: Buffer): string {
  return `${typeOf(key)} ${fingerprint(key)}`;
}

export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** A key begins with the name of its type. */
function typeOf(key: Buffer): string {
  return key.length < 4 ? "" : key.subarray(4, 4 + key.readUInt32BE(0)).toString();
}

function encoded(publicKey: string): string {
  return publicKey.trim().split(/\s+/)[1] ?? "";
}

function nameOf({ host, port }: Pick<HostAccess, "host" | "port">): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

/** The keys that a known_hosts file has for a host, in base64 (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
export function knownKeys(text: string, host: string, port: number): { keys: string[]; revoked: string[] } {
  const name = nameOf({ host, port });
  const found = { keys: [] as string[], revoked: [] as string[] };
  for (const line of text.split("\n")) {
    const fields = line.trim().split(/\s+/);
    const marker = fields[0]?.startsWith("@") ? fields.shift() : undefined;
    const [hosts = "", type = "", key = ""] = fields;
    if (hosts.startsWith("#") || type === "" || !matches(hosts, name)) continue;
    if (marker === "@revoked") found.revoked.push(key);
    // Host certificates are not supported: a line for their authority names no key of a host.
    else if (marker === undefined) found.keys.push(key);
  }
  return found;
}

function matches(patterns: string, name: string): boolean {
  if (patterns.startsWith("|1|")) return isHashed(patterns, name);
  const list = patterns.split(",");
  if (list.some((pattern) => pattern.startsWith("!") && fits(pattern.slice(1), name))) return false;
  return list.some((pattern) => fits(pattern, name));
}

function isHashed(entry: string, name: string): boolean {
  const [, , salt = "", hash = ""] = entry.split("|");
  return createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest("base64") === hash;
}

function fits(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "i").test(name);
}
