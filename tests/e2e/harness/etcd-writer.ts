import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EtcdUser } from "../writer/config";
import { runCommand, tail } from "./command";
import type { Environment } from "./environment";

/**
 * The Go client of the suite, which `make test-e2e` builds and names: writes, tells who leads, and looks at a cluster
 * from outside.
 */
export const etcdWriter = process.env.PULUMI_ETCD_WRITER ?? "etcd-writer";

/** A member's entry in the raft membership. */
export interface MemberFacts {
  name: string;
  id: string;
  peerUrls: string[];
  clientUrls: string[];
}

/** What came of each way to get into a member: `accepted`, `refused: ...` or `unreachable: ...`. */
export interface Admission {
  member: string;
  plaintext: string;
  anonymousTls: string;
  tls: string;
}

/** The certificate that a member shows on a port; without one, why not. */
export interface Served {
  member: string;
  port: string;
  serial?: string;
  error?: string;
}

export interface Inspection {
  /** The scheme that was used to ask. */
  scheme: "http" | "https";
  members: MemberFacts[];
  admission: Admission[];
  served: Served[];
  /** How many keys were read back. */
  keys: number;
}

export interface InspectOptions {
  members: { name: string; address: string }[];
  credentials: { ca: string; certificate: string; key: string };
  /** As whom to ask where etcd's authentication is on. */
  user?: EtcdUser;
  /** Keys below it are read back, into the file `keysFile`. */
  prefix: string;
  keysFile: string;
}

/** Makes a user of the role root and switches etcd's authentication on, in plaintext. */
export async function enableAuthentication(
  environment: Environment,
  members: { name: string; address: string }[],
  user: EtcdUser,
  folder: string,
): Promise<void> {
  const config = join(folder, "enable-auth.json");
  writeFileSync(config, JSON.stringify({ members, user, maxSeconds: 60 }), { mode: 0o600 });
  const result = await runCommand([...environment.inNetwork, etcdWriter, "enable-auth", config], {
    env: environment.variables,
    timeoutMs: 90_000,
  });
  if (result.code !== 0) throw new Error(`authentication could not be switched on: ${tail(result.stderr)}`);
}

/** Looks at a cluster from its network, with none of the product's code. */
export async function inspectCluster(environment: Environment, options: InspectOptions): Promise<Inspection> {
  return (await look("inspect", environment, options)) as Inspection;
}

/** Who gets in at each member with such credentials, also where that is nobody. */
export async function readAdmission(environment: Environment, options: InspectOptions): Promise<Admission[]> {
  return (await look("admission", environment, options)) as Admission[];
}

async function look(command: string, environment: Environment, options: InspectOptions): Promise<unknown> {
  const { keysFile, ...settings } = options;
  const config = `${keysFile}.json`;
  writeFileSync(config, JSON.stringify({ ...settings, log: keysFile, maxSeconds: 60 }));
  const result = await runCommand([...environment.inNetwork, etcdWriter, command, config], {
    env: environment.variables,
    timeoutMs: 90_000,
  });
  if (result.code !== 0) throw new Error(`the cluster could not be inspected: ${tail(result.stderr)}`);
  return JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "");
}
