import type { AuthSpec, ConfigProblem, EtcdSpec } from "../config/types";
import { finalStage } from "../manifests";
import { AUTH_PATH, MAKE_SECRET, readUser } from "./etcd-user";
import type { Authentication, LivePod } from "./ports";
import { Refusal } from "./problems";
import { CALL_DEADLINE_MS, type ClusterView } from "./view";

/**
 * Where etcd's authentication is on, a walk needs a user of the role root: members tell nobody else how they are, let
 * nobody else move the leadership, and register peer URLs for nobody else. Throws `Refusal` where it has none, or will
 * have none on the way. A cluster that does not answer is not judged here.
 */
export async function demandAuthentication(view: ClusterView, pods: LivePod[]): Promise<void> {
  const { spec, ports } = view;
  if (spec.auth) await readUser(ports, spec.namespace, spec.auth);
  if (!pods.some((pod) => pod.ready)) return;
  const found = await view
    .askAny(pods, (address) => ports.etcd.authentication(address, CALL_DEADLINE_MS))
    .catch(() => ({ on: false }) as Authentication);
  const problem = found.on ? objection(spec, found.denied) : undefined;
  if (problem) throw new Refusal([problem]);
}

function objection(spec: EtcdSpec, denied: string | undefined): ConfigProblem | undefined {
  const { auth, namespace } = spec;
  if (auth) return denied === undefined ? undefined : wrongUser(namespace, auth, denied);
  if (denied === undefined && showsCertificates(spec)) return undefined;
  const why = denied ?? "the client certificate names a user, but plaintext has none";
  return {
    path: AUTH_PATH,
    rule: `is required, because etcd's authentication is on (${why})`,
    mend: `Name a Secret in namespace ${namespace} with a user of the role root: ${MAKE_SECRET}`,
  };
}

function wrongUser(namespace: string, { secretName }: AuthSpec, denied: string): ConfigProblem {
  const rights = /permission denied/.test(denied);
  return {
    path: AUTH_PATH,
    value: secretName,
    rule: `etcd refuses the user in Secret ${namespace}/${secretName}: ${denied}`,
    mend: rights
      ? "Grant it the role root (etcdctl user grant-role USER root), or name another user"
      : "Correct username and password in the Secret",
  };
}

/** Whether clients are known by their certificates once the walk is over: on the way there, too. */
function showsCertificates(spec: EtcdSpec): boolean {
  return finalStage(spec).client === "tls" && spec.tls?.client.auth === "required";
}
