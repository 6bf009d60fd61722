import { flags } from "../flags";
import type { MemberSpec, Stage } from "../types";
import { hostPlace } from "./layout";

/** How the annotations of a template are called in the environment of the process that was started from it. */
const VARIABLE_PREFIX = "PULUMI_ETCD_";

/** What a service file is made from, besides the spec. */
export interface UnitOptions {
  stage: Stage;
  trustRevision?: string;
  /** What the process is to say about itself; read back from its environment. */
  annotations: Record<string, string>;
}

/**
 * The systemd service of a member.
 *
 * Type=notify: etcd tells when it serves, which may take as long as the others take to come. The annotations are in
 * the environment, so that a running process says itself which template it was made from.
 */
export function renderUnit(spec: MemberSpec, ordinal: number, options: UnitOptions): string {
  const { user, binary } = spec.hosts!;
  const place = hostPlace(spec, ordinal, options.trustRevision);
  const args = flags(spec, options.stage, place).map(quoted);
  const environment = [
    ...spec.extraEnv.map(({ name, value }) => [name, value] as const),
    ...Object.entries(options.annotations).map(([name, value]) => [variableOf(name), value] as const),
  ];
  return [
    "# Made by pulumi-etcd; what is changed here by hand is overwritten.",
    "[Unit]",
    `Description=etcd member ${place.name} of ${spec.name}`,
    "Documentation=https://etcd.io/docs",
    "Wants=network-online.target",
    "After=network-online.target",
    "",
    "[Service]",
    "Type=notify",
    `User=${user}`,
    `Group=${user}`,
    ...environment.map(([name, value]) => `Environment=${quotedAlways(`${name}=${value}`)}`),
    `ExecStart=${binary} \\`,
    ...args.map((arg, index) => `  ${arg}${index < args.length - 1 ? " \\" : ""}`),
    "Restart=on-failure",
    "RestartSec=5",
    "# A member waits for the others, or reads a large database: no restart helps it.",
    "TimeoutStartSec=infinity",
    "TimeoutStopSec=60",
    "LimitNOFILE=65536",
    "NoNewPrivileges=true",
    "ProtectSystem=full",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** `pulumi-etcd/peer-stage` is `PULUMI_ETCD_PEER_STAGE`. */
function variableOf(annotation: string): string {
  return (
    VARIABLE_PREFIX +
    annotation
      .replace(/^pulumi-etcd\//, "")
      .replaceAll("-", "_")
      .toUpperCase()
  );
}

/** The annotations in lines of `NAME=value`, as a process's environment has them. */
export function annotationsIn(environment: string[]): Record<string, string> {
  const own = environment.filter((line) => line.startsWith(VARIABLE_PREFIX));
  return Object.fromEntries(
    own.map((line) => {
      const [name = "", ...value] = line.slice(VARIABLE_PREFIX.length).split("=");
      return [`pulumi-etcd/${name.toLowerCase().replaceAll("_", "-")}`, value.join("=")];
    }),
  );
}

/** The lines of `NAME=value` that a service file sets. */
export function environmentOf(unit: string): string[] {
  const lines = unit.match(/^Environment="(.*)"$/gm) ?? [];
  return lines.map((line) => line.slice('Environment="'.length, -1).replace(/\\(.)/g, "$1").replaceAll("%%", "%"));
}

/** One argument of ExecStart, where systemd expands `%` and `$`. */
function quoted(arg: string): string {
  const escaped = arg.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[A-Za-z0-9_./:=,@%$+-]*$/.test(escaped) ? escaped : inQuotes(escaped);
}

function quotedAlways(text: string): string {
  return inQuotes(text.replaceAll("%", "%%"));
}

function inQuotes(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
