/** What kept a call to Kubernetes from succeeding. */
export type KubeErrorReason =
  | "Kubeconfig"
  | "Unreachable"
  | "NotFound"
  | "Unauthorized"
  | "Forbidden"
  | "Conflict"
  | "Invalid"
  | "Timeout"
  | "Other";

export interface KubeErrorDetails {
  reason: KubeErrorReason;
  /** Address of the API server, such as `https://10.0.0.1:6443`. */
  server: string;
  /** What was tried, such as `apply` or `get`. */
  verb: string;
  /** What it was tried on, such as `StatefulSet default/etcd`. */
  object: string;
  /** HTTP status, where there was an answer. */
  status?: number;
  /** The API server's own words, or those of the network. Must not hold secrets. */
  detail: string;
}

/** What to do about a right that is missing. The manifest has every right that this package asks for. */
export const grant =
  "Grant this verb on this resource to the user of the kubeconfig context, as stacks/rbac.yaml of pulumi-etcd does, or use another context.";

const advice: Record<KubeErrorReason, string> = {
  Kubeconfig: "Set KUBECONFIG, or kubernetes:kubeconfig and kubernetes:context of the stack.",
  Unreachable: "Check that the cluster runs and that kubeconfig and context name the right one.",
  NotFound: "Check the name and the namespace, and that the CustomResourceDefinition is installed.",
  Unauthorized:
    "The API server does not know the user of the kubeconfig context, or its token has expired: log in again.",
  Forbidden: grant,
  Conflict: "Somebody else changed the object at the same time; run again.",
  Invalid: "The API server does not accept this object; change the field that it names.",
  Timeout: "The API server took too long; look at its load and health, then run again.",
  Other: "Look at the API server's events and logs, then run again.",
};

/**
 * A call to Kubernetes that failed. Its message names the server, the verb, the object, the API server's own
 * words and what to do next; it never holds the content of a Secret.
 */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly reason: KubeErrorReason;
  readonly status?: number;
  readonly server: string;

  constructor(details: KubeErrorDetails, options?: ErrorOptions) {
    const { server, verb, object, reason, status, detail } = details;
    const kind = status === undefined ? reason : `${reason} (${status})`;
    const where = reason === "Kubeconfig" ? "" : `Kubernetes API server ${server}: ${verb} ${object}: ${kind}: `;
    super(`${where}${sentence(detail)} ${advice[reason]}`, options);
    this.reason = reason;
    this.status = status;
    this.server = server;
  }
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** The reason that an HTTP status stands for. */
export function reasonOfStatus(status: number): KubeErrorReason {
  if (status === 401) return "Unauthorized";
  if (status === 403) return "Forbidden";
  if (status === 404 || status === 410) return "NotFound";
  if (status === 409) return "Conflict";
  if (status === 408 || status === 504) return "Timeout";
  if ([400, 405, 406, 413, 415, 422].includes(status)) return "Invalid";
  return "Other";
}
