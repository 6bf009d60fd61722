import {
  type CertificateSecret,
  claimSecret,
  differs,
  type LeafSecret,
  releaseSecret,
  writeOwnLeaf,
} from "../../rollout";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, UNKNOWN } from "./base";

interface LeafInputs extends CommonInputs, CertificateSecret {
  cluster: string;
  certificate: string;
  /** Kept by Pulumi as a secret. */
  key: string;
  ca: string;
  /** Filled in by `check`: whether the Secret holds what the last update wrote. */
  intact?: boolean;
}

const REPLACING = ["namespace", "secretName", "certificateName", "cluster"] as const;

/** Writes leaves of the cluster's own CA, in place and only once the members trust their CA. */
export const leafSecret = {
  configure: configureAccess,

  async check(olds: Partial<LeafInputs>, news: LeafInputs) {
    return check(news, async (ports) => {
      if (olds.secretName !== news.secretName) await claimSecret(ports, news);
      if (olds.certificate === undefined) return { intact: false };
      return { intact: !(await differs(ports, clusterOf(olds as LeafInputs), leafOf(olds as LeafInputs))) };
    });
  },

  async diff(_id: string, olds: LeafInputs, news: LeafInputs) {
    const replaces = REPLACING.filter((key) => olds[key] !== news[key]);
    if (replaces.length > 0) return { changes: true, replaces: [...replaces] };
    const parts = ["certificate", "key", "ca"] as const;
    return diffWhen(news.intact === false || parts.some((part) => olds[part] !== news[part]));
  },

  async create(inputs: LeafInputs) {
    return { id: `${inputs.namespace}/${inputs.secretName}`, outs: await write(inputs) };
  },

  async update(_id: string, _olds: LeafInputs, news: LeafInputs) {
    return { outs: await write(news) };
  },

  async read(id: string, props: LeafInputs) {
    return { id, props };
  },

  async delete(_id: string, props: LeafInputs) {
    await releaseSecret(await portsFor(props.resourceUrn), props);
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
