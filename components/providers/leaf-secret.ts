import { claimSecret, differs, type LeafSecret, writeOwnLeaf } from "../../rollout";
import { portsFor } from "./access";
import { check, diffWhen, UNKNOWN } from "./base";
import { anotherSecret, type HeldSecret, heldSecret, secretId } from "./held-secret";

interface LeafInputs extends HeldSecret {
  cluster: string;
  certificate: string;
  /** Kept by Pulumi as a secret. */
  key: string;
  ca: string;
  /** Filled in by `check`: whether the Secret holds what the last update wrote. */
  intact?: boolean;
}

/** Writes leaves of the cluster's own CA, in place and only once the members trust their CA. */
export const leafSecret = {
  ...heldSecret,

  async check(olds: Partial<LeafInputs>, news: LeafInputs) {
    return check(news, async (ports) => {
      if (olds.secretName !== news.secretName) await claimSecret(ports, news);
      if (olds.certificate === undefined) return { intact: false };
      return { intact: !(await differs(ports, clusterOf(olds as LeafInputs), leafOf(olds as LeafInputs))) };
    });
  },

  async diff(_id: string, olds: LeafInputs, news: LeafInputs) {
    const parts = ["certificate", "key", "ca"] as const;
    const changed = parts.some((part) => olds[part] !== news[part]);
    return anotherSecret(olds, news) ?? diffWhen(changed, news.intact === false);
  },

  async create(inputs: LeafInputs) {
    return { id: secretId(inputs), outs: await write(inputs) };
  },

  async update(_id: string, _olds: LeafInputs, news: LeafInputs) {
    return { outs: await write(news) };
  },
};

async function write(inputs: LeafInputs) {
  if ([inputs.certificate, inputs.key, inputs.ca].includes(UNKNOWN))
    throw new Error("the certificate is not known yet");
  await writeOwnLeaf(await portsFor(inputs.resourceUrn), clusterOf(inputs), leafOf(inputs));
  return { ...inputs, intact: true };
}

function clusterOf({ cluster, namespace }: LeafInputs) {
  return { name: cluster, namespace };
}

function leafOf({ secretName, certificateName, certificate, key, ca }: LeafInputs): LeafSecret {
  return { secretName, madeFor: certificateName, material: { certificate, key, ca } };
}
