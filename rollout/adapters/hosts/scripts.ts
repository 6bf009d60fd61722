import type { HostsSpec } from "../../../config/types";
import {
  foldersOf,
  type HostFile,
  layoutOf,
  leafFolder,
  makeFolder,
  makeUser,
  PUT,
  putFile,
  quote,
  shellScript,
} from "../../../manifests";

/** Begins a section of what `inspectScript` prints. */
const SECTION = "pulumi-etcd-section ";

/** The hash in the environment of a running member; empty where none runs. */
const RUNNING = [
  "running() {",
  '  pid=$(systemctl show "$1" --property=MainPID | sed -n "s/^MainPID=//p")',
  "  case $pid in '' | 0) ;; *)",
  '    tr "\\0" "\\n" <"/proc/$pid/environ" 2>/dev/null ;; esac',
  "}",
];

/** Everything that decisions need to know of a host, read at one moment. */
export function inspectScript(hosts: HostsSpec): string {
  const { nextUnit, record, unit } = layoutOf(hosts);
  const service = quote(`${hosts.service}.service`);
  const show = (name: string, path: string) => [`section ${name}`, `cat ${quote(path)} 2>/dev/null || true`];
  return shellScript([
    `section() { echo "${SECTION}$1"; }`,
    ...RUNNING,
    "section service",
    `systemctl show ${service} --property=ActiveState,SubState,Result,ExecMainStatus,MainPID,Job`,
    "section process",
    `running ${service} | grep "^PULUMI_ETCD_" || true`,
    ...show("unit", unit),
    ...show("next", nextUnit),
    ...show("record", record),
    "section data",
    `if [ -e ${quote(hosts.dataDir)}/member ]; then echo present; fi`,
  ]);
}

/** What a script printed, by the names of its sections. */
export function sectionsOf(said: string): Record<string, string> {
  const parts = said.split(new RegExp(`^${SECTION}`, "m")).slice(1);
  return Object.fromEntries(
    parts.map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)]),
  );
}

/** Whether the host has what is needed; one line for each thing that it lacks. */
export function lacksScript(hosts: HostsSpec, uploads: boolean): string {
  return shellScript([
    '[ "$(id -u)" = 0 ] || echo "commands do not run as root"',
    "for program in systemctl flock sha256sum useradd mktemp; do",
    '  command -v "$program" >/dev/null 2>&1 || echo "there is no $program"',
    "done",
    ...(uploads
      ? []
      : [
          `[ -x ${quote(hosts.binary)} ] || echo ${quote(`etcd is not at ${hosts.binary}: install it, or set binary.file`)}`,
        ]),
  ]);
}

/** Makes the user and the folders, then writes files, each in one go. */
export function writeScript(hosts: HostsSpec, leaves: string[], files: HostFile[]): string {
  return shellScript([
    ...PUT,
    ...makeUser(hosts),
    ...foldersOf(hosts).flatMap(makeFolder),
    ...leaves.flatMap((name) => makeFolder(leafFolder(hosts, name))),
    ...files.flatMap(putFile),
  ]);
}

/**
 * Puts the template that was written beforehand into force and restarts the member, unless another one runs meanwhile
 * than `expected` (`absent`: none is installed; `stopped`: none runs). systemd does the rest by itself, even if the
 * connection breaks off.
 */
export function activateScript(hosts: HostsSpec, expected: string): string {
  const { nextUnit, unit } = layoutOf(hosts);
  const service = quote(`${hosts.service}.service`);
  const data = quote(hosts.dataDir);
  return shellScript([
    ...PUT,
    ...RUNNING,
    `now=$(running ${service} | sed -n "s/^PULUMI_ETCD_TEMPLATE_HASH=//p")`,
    `if [ ! -e ${unit} ]; then now=absent; fi`,
    'if [ "$now" = "" ]; then',
    `  now=$(sed -n 's/^Environment="PULUMI_ETCD_TEMPLATE_HASH=\\(.*\\)"$/\\1/p' ${unit})`,
    // As `isIdle` has it.
    `  case $(systemctl show ${service} --property=ActiveState,Job) in`,
    "    *Job=[1-9]*) ;;",
    "    *ActiveState=inactive* | *ActiveState=failed*) now=stopped ;;",
    "  esac",
    "fi",
    `if [ "$now" != ${quote(expected)} ]; then echo gone; return 0; fi`,
    ...makeUser(hosts),
    // Another user than before must be able to read what the one before wrote.
    `if [ "$(stat -c %U ${data})" != ${quote(hosts.user)} ]; then`,
    `  systemctl stop ${service} >/dev/null 2>&1 || true`,
    `  chown -R ${quote(`${hosts.user}:${hosts.user}`)} ${data}`,
    "fi",
    ...["server", "peer"].map((name) => {
      const { path, owner } = leafFolder(hosts, name);
      return `if [ -d ${quote(path)} ]; then chown -R ${quote(owner)} ${quote(path)}; fi`;
    }),
    `put ${unit} 0644 root:root <${quote(nextUnit)}`,
    "systemctl daemon-reload",
    `systemctl enable ${service} >/dev/null 2>&1`,
    `systemctl restart --no-block ${service}`,
    "echo evicted",
  ]);
}

/** Prints files of a folder, each as a section. */
export function readFolderScript(path: string): string {
  return shellScript([
    `for file in ${quote(path)}/*; do`,
    '  if [ -f "$file" ]; then',
    `    echo "${SECTION}$(basename "$file")"`,
    '    cat "$file"',
    "  fi",
    "done",
  ]);
}

/** Removes files of the trust bundle that are not in it any more. */
export function pruneScript(folder: string, keep: string[]): string {
  const names = keep.map((name) => `! -name ${quote(name)}`).join(" ");
  return shellScript([`find ${quote(folder)} -type f ${names} -delete`]);
}

export function removeScript(paths: string[]): string {
  return shellScript([`rm -rf ${paths.map(quote).join(" ")}`]);
}

/** Stops the member for good; its data stays. */
export function uninstallScript(hosts: HostsSpec): string {
  const { state, tls, unit } = layoutOf(hosts);
  const service = quote(`${hosts.service}.service`);
  return shellScript([
    `systemctl disable ${service} >/dev/null 2>&1 || true`,
    `systemctl stop ${service} >/dev/null 2>&1 || true`,
    `rm -rf ${quote(unit)} ${quote(state)} ${quote(tls)}`,
    "systemctl daemon-reload",
  ]);
}

/** Replaces a file if its digest is still the expected one (`none`: it does not exist); prints whether it was. */
export function exchangeScript(folder: string, file: HostFile, expected: string): string {
  const path = quote(file.path);
  return shellScript([
    ...PUT,
    `mkdir -p -m 0755 ${quote(folder)}`,
    `exec 9>${quote(`${folder}/lock`)}`,
    "flock 9",
    "now=none",
    `if [ -e ${path} ]; then now=$(sha256sum <${path} | cut -c1-64); fi`,
    `if [ "$now" != ${quote(expected)} ]; then echo conflict; return 0; fi`,
    ...putFile(file),
    "echo written",
  ]);
}
