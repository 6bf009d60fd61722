import { closest, distance } from "fastest-levenshtein";
import { isNewerMinor, type Minor, minorOf } from "./versions";

/** The minor releases of etcd whose flags are known here, oldest first. */
const KNOWN: Minor[] = ["3.5", "3.6", "3.7"];
const NEWEST = KNOWN.at(-1)!;

/** A flag that not every known release has. */
interface Life {
  /** The first minor release with it, and the last one; absent: the oldest and the newest that are known. */
  from?: Minor;
  until?: Minor;
  /** What to do where the release has it no more, or not yet. */
  before?: string;
  after?: string;
}

/** Flags that every known release has. */
const EVERYWHERE =
  `advertise-client-urls auth-token auth-token-ttl auto-compaction-mode auto-compaction-retention auto-tls
  backend-batch-interval backend-batch-limit backend-bbolt-freelist-type bcrypt-cost cert-file cipher-suites
  client-cert-allowed-hostname client-cert-auth client-cert-file client-crl-file client-key-file cluster-active-size
  cluster-remove-delay cluster-sync-interval config config-file cors data-dir discovery-fallback discovery-srv
  discovery-srv-name election-timeout enable-grpc-gateway enable-log-rotation enable-pprof force force-new-cluster
  grpc-keepalive-interval grpc-keepalive-min-time grpc-keepalive-timeout heartbeat-interval host-whitelist
  initial-advertise-peer-urls initial-cluster initial-cluster-state initial-cluster-token
  initial-election-tick-advance key-file listen-client-http-urls listen-client-urls listen-metrics-urls
  listen-peer-urls log-level log-outputs log-rotation-config-json logger max-concurrent-streams max-request-bytes
  max-result-buffer max-retry-attempts max-snapshots max-txn-ops max-wals metrics name peer-auto-tls
  peer-cert-allowed-cn peer-cert-allowed-hostname peer-cert-file peer-client-cert-auth peer-client-cert-file
  peer-client-key-file peer-crl-file peer-election-timeout peer-heartbeat-interval peer-key-file peer-trusted-ca-file pre-vote
  quota-backend-bytes raft-read-timeout raft-write-timeout retry-interval self-signed-cert-validity snapshot snapshot-count
  socket-reuse-address socket-reuse-port strict-reconfig-check tls-max-version tls-min-version trusted-ca-file
  unsafe-no-fsync v v2-deprecation version vv wal-dir`.split(/\s+/);

/** Flags that 3.6 calls by this name, and also `experimental-<name>`; 3.5 knows only that, 3.7 only this. */
const LEFT_EXPERIMENTAL = `bootstrap-defrag-threshold-megabytes compact-hash-check-time compaction-batch-limit
  compaction-sleep-interval corrupt-check-time distributed-tracing-address distributed-tracing-instance-id
  distributed-tracing-sampling-rate distributed-tracing-service-name downgrade-check-time enable-distributed-tracing
  memory-mlock peer-skip-client-san-verification snapshot-catchup-entries warning-apply-duration
  watch-progress-notify-interval`.split(/\s+/);

/** Flags that 3.6 turned into feature gates; 3.7 knows the gates alone. */
const GATE_OF: Record<string, string> = {
  "experimental-compact-hash-check-enabled": "CompactHashCheck",
  "experimental-enable-lease-checkpoint": "LeaseCheckpoint",
  "experimental-enable-lease-checkpoint-persist": "LeaseCheckpointPersist",
  "experimental-initial-corrupt-check": "InitialCorruptCheck",
  "experimental-stop-grpc-service-on-defrag": "StopGRPCServiceOnDefrag",
  "experimental-txn-mode-write-with-shared-buffer": "TxnModeWriteWithSharedBuffer",
};

const V2_API =
  "Leave it out: the v2 API is gone. Where it was in use, ask `etcdutl check v2store` of every member first: etcd 3.6 does not start on what clients of the v2 API have left";
const V2_PROXY = "Leave it out: the v2 proxy is gone; `etcd grpc-proxy` is another program";

/** Which releases have the flags that not all of them have. Read in the sources of 3.5.36, 3.6.17 and 3.7.3. */
const LIVES = new Map<string, Life>([
  ...LEFT_EXPERIMENTAL.flatMap((name): [string, Life][] => [
    [name, { from: "3.6", before: `Write \`experimental-${name}\`` }],
    [`experimental-${name}`, { until: "3.6", after: `Write \`${name}\`` }],
  ]),
  ...Object.entries(GATE_OF).map(([name, gate]): [string, Life] => [
    name,
    { until: "3.6", after: `Write \`feature-gates: ${gate}=true\` or \`=false\`` },
  ]),
  ["warning-unary-request-duration", { from: "3.6" }],
  [
    "experimental-warning-unary-request-duration",
    { from: "3.6", until: "3.6", after: "Write `warning-unary-request-duration`" },
  ],
  ["feature-gates", { from: "3.6", before: "Write the flag `experimental-...` of the feature" }],
  ["log-format", { from: "3.6" }],
  ["max-learners", { from: "3.6" }],
  ["enable-v2", { until: "3.5", after: V2_API }],
  ["experimental-enable-v2v3", { until: "3.5", after: V2_API }],
  ["proxy", { until: "3.5", after: V2_PROXY }],
  ...["dial-timeout", "failure-wait", "read-timeout", "refresh-interval", "write-timeout"].map(
    (name): [string, Life] => [`proxy-${name}`, { until: "3.5", after: V2_PROXY }],
  ),
  ["discovery", { until: "3.6" }],
  ["discovery-proxy", { until: "3.6" }],
]);

/** The gates of `feature-gates`, by the first release that knows them. */
const GATES: Record<string, Minor> = {
  AllAlpha: "3.6",
  AllBeta: "3.6",
  CompactHashCheck: "3.6",
  FastLeaseKeepAlive: "3.7",
  InitialCorruptCheck: "3.6",
  LeaseCheckpoint: "3.6",
  LeaseCheckpointPersist: "3.6",
  PriorityRequest: "3.7",
  SetMemberLocalAddr: "3.6",
  StopGRPCServiceOnDefrag: "3.6",
  TxnModeWriteWithSharedBuffer: "3.6",
};

export interface FlagProblem {
  rule: string;
  mend: string;
}

/** Why etcd of that version does not start with the flag; undefined where it does. */
export function flagProblem(flag: string, version: string): FlagProblem | undefined {
  const minor = minorOf(version);
  if (EVERYWHERE.includes(flag)) return undefined;
  const life = LIVES.get(flag);
  if (!life) return isNewerMinor(minor, NEWEST) ? undefined : unknown(flag, minor);
  if (life.until && isNewerMinor(minor, life.until)) {
    return { rule: gone(minor, life.until), mend: life.after ?? "Leave it out" };
  }
  if (life.from && isNewerMinor(life.from, minor)) {
    return {
      rule: `is a flag that etcd ${minor} does not have yet: ${life.from} brings it`,
      mend: life.before ?? "Leave it out",
    };
  }
  return undefined;
}

const EXITS = "and etcd exits on a flag that it does not know";

function gone(minor: Minor, last: Minor): string {
  return `is a flag that etcd ${minor} has no more (${last} was the last release with it), ${EXITS}`;
}

function unknown(flag: string, minor: Minor): FlagProblem {
  const known = [...EVERYWHERE, ...LIVES.keys()].filter((name) => hasFlag(name, minor));
  const nearest = closest(flag, known);
  const near = distance(flag, nearest) <= Math.max(2, Math.floor(flag.length / 4));
  return {
    rule: `is no flag of etcd ${minor}, ${EXITS}`,
    mend: near ? `Did you mean \`${nearest}\`?` : "Write it as `etcd --help` prints it, or leave it out",
  };
}

/** Whether a release has a flag. */
export function hasFlag(flag: string, minor: Minor): boolean {
  if (EVERYWHERE.includes(flag)) return true;
  const life = LIVES.get(flag);
  if (!life) return false;
  return !(life.until && isNewerMinor(minor, life.until)) && !(life.from && isNewerMinor(life.from, minor));
}

/** Why etcd of that version does not start with this value of a flag; undefined where it does, or where nobody knows. */
export function flagValueProblem(flag: string, value: string, version: string): FlagProblem | undefined {
  const minor = minorOf(version);
  if (flag === "v2-deprecation" && value === "not-yet" && isNewerMinor(minor, "3.5")) {
    return { rule: `is no value that etcd ${minor} knows, and it exits`, mend: "Leave it out" };
  }
  return flag === "feature-gates" && !isNewerMinor(minor, NEWEST) ? gateProblem(value, minor) : undefined;
}

function gateProblem(value: string, minor: Minor): FlagProblem | undefined {
  const names = value.split(",").map((each) => each.split("=")[0]!.trim());
  const known = Object.keys(GATES).filter((name) => !isNewerMinor(GATES[name]!, minor));
  const wrong = names.find((name) => name !== "" && !known.includes(name));
  if (wrong === undefined) return undefined;
  return {
    rule: `names \`${wrong}\`, which is no feature gate of etcd ${minor}, and it exits`,
    mend: `Choose from ${known.map((name) => `\`${name}\``).join(", ")}`,
  };
}

/** What a flag that was experimental is called now. */
export function newNameOf(flag: string): string | undefined {
  const name = flag.replace(/^experimental-/, "");
  return name !== flag && LIVES.has(name) ? name : undefined;
}

/** The feature gate that a flag stands for. */
export function gateOf(flag: string): string | undefined {
  return GATE_OF[flag];
}

/** Every flag that some known release has: for a test that asks etcd itself. */
export function flagsThatCome(): string[] {
  return [...EVERYWHERE, ...LIVES.keys()].sort();
}
