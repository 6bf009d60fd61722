import { type CertificateSecret, releaseSecret } from "../../rollout";
import { configureAccess, portsFor } from "./access";
import type { CommonInputs } from "./base";

/** Inputs of every resource that stands for the Secret of a certificate. */
export type HeldSecret = CommonInputs & CertificateSecret;

/** Fields that another Secret goes with, which is made before this one goes. */
const REPLACING = ["namespace", "secretName", "certificateName"] as const;

/** What they have in common: the Secret goes only once no pod mounts it. */
export const heldSecret = {
  configure: configureAccess,

  async read<P extends HeldSecret>(id: string, props: P) {
    return { id, props };
  },

  async delete(_id: string, props: HeldSecret) {
    await releaseSecret(await portsFor(props.resourceUrn), props);
  },
};

export function secretId({ namespace, secretName }: HeldSecret): string {
  return `${namespace}/${secretName}`;
}

/** The difference that another Secret is; undefined where it is the same one. */
export function anotherSecret(olds: HeldSecret, news: HeldSecret) {
  const replaces = REPLACING.filter((key) => olds[key] !== news[key]);
  return replaces.length > 0 ? { changes: true, replaces: [...replaces] } : undefined;
}
