import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Each clone of the repository has a cluster and a Pulumi login of its own. */
export const repository = realpathSync(join(import.meta.dirname, "..", ".."));

const digest = createHash("sha256").update(repository).digest();

export const cloneId = digest.toString("hex").slice(0, 8);

export const stateRoot = join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "pulumi-etcd", cloneId);

/** A number that is the same at every start, to begin a search for free addresses with. */
export const cloneNumber = digest.readUInt32BE(4);

const state = (...names: string[]) => join(stateRoot, ...names);

/** Files and folders as the machine sees them. */
export const paths = {
  /** Everything that `cluster down` removes. */
  cluster: state("cluster"),
  settings: state("cluster", "settings.json"),
  kubeconfig: state("cluster", "pki", "admin.kubeconfig"),
  logs: state("cluster", "logs"),
  lock: state("lock"),
  pulumiHome: state("pulumi-home"),
  /** Stacks describe what is in the cluster, so they go with it. */
  pulumiState: state("cluster", "pulumi-state"),
  /** Stacks of programs that are only previewed. */
  detachedPulumiState: state("pulumi-state"),
};
