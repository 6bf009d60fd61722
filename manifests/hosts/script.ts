import type { HostsSpec } from "../../config/types";
import type { HostFile, HostFolder } from "./layout";

/** Ends a text in the script; no text may have it as a line of its own. */
const END = "PULUMI_ETCD_END";

/** Everything is read before anything is done, so that a script on standard input is not read by its own commands. */
export function shellScript(lines: string[]): string {
  return ["#!/bin/sh", "set -eu", "umask 077", "main() {", ...lines, "}", "main </dev/null", ""].join("\n");
}

/** Writes a file in one go: a reader sees the old or the new one, whole. `put PATH MODE OWNER` takes it from its input. */
export const PUT = [
  "put() {",
  '  new="$(mktemp "$1.XXXXXX")"',
  '  cat >"$new"',
  '  chown "$3" "$new"',
  '  chmod "$2" "$new"',
  '  mv -f "$new" "$1"',
  "}",
];

export function putFile({ path, mode, owner, content }: HostFile): string[] {
  const text = content.endsWith("\n") ? content : `${content}\n`;
  if (text.split("\n").includes(END)) throw new Error(`${path}: must not have a line ${END}`);
  return [`put ${quote(path)} ${mode} ${quote(owner)} <<'${END}'`, text + END];
}

export function makeFolder({ path, mode, owner }: HostFolder): string[] {
  return [`mkdir -p ${quote(path)}`, `chown ${quote(owner)} ${quote(path)}`, `chmod ${mode} ${quote(path)}`];
}

/** A system user without a home and a shell, under the names that Debian's and Red Hat's tools share. */
export function makeUser({ user, dataDir }: HostsSpec): string[] {
  if (user === "root") return [];
  const make = `useradd --system --user-group --no-create-home --home-dir ${quote(dataDir)} --shell /usr/sbin/nologin`;
  return [`id -u ${quote(user)} >/dev/null 2>&1 || ${make} ${quote(user)}`];
}

/** A word of a shell command. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
