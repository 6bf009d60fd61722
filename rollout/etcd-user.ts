import type { AuthSpec } from "../config/types";
import type { EtcdUser, Ports } from "./ports";
import { Refusal } from "./problems";

/** Where the user is configured. */
export const AUTH_PATH = "etcd:auth.secretName";

/** How such a Secret is made. */
export const MAKE_SECRET =
  "kubectl create secret generic NAME --type=kubernetes.io/basic-auth --from-literal=username=root --from-literal=password=...";

/**
 * The user as whom the members are asked, from the cluster; kept in memory only. Throws `Refusal` where the Secret is
 * missing or is of another kind; never quotes it.
 */
export async function readUser(ports: Ports, namespace: string, { secretName }: AuthSpec): Promise<EtcdUser> {
  const secret = await ports.kube.get("v1", "Secret", namespace, secretName);
  const found = { path: AUTH_PATH, value: secretName };
  if (!secret) {
    throw new Refusal([
      {
        ...found,
        rule: `Secret ${namespace}/${secretName} does not exist`,
        mend: `Make it (${MAKE_SECRET}), or leave etcd:auth out until authentication is switched on`,
      },
    ]);
  }
  const { username, password } = (secret.data ?? {}) as Record<string, string>;
  if (secret.type === "kubernetes.io/basic-auth" && username && password) {
    return { name: decode(username), password: decode(password) };
  }
  const rule = `Secret ${namespace}/${secretName} must be of type kubernetes.io/basic-auth, with username and password`;
  throw new Refusal([{ ...found, rule, mend: `Make it anew (${MAKE_SECRET}), or name another` }]);
}

function decode(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}
