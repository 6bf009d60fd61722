import type { Alias, EtcdSpec } from "../../config/types";
import {
  type CertificateSecret,
  claimSecret,
  copyGiven,
  differs,
  type LeafSecret,
  releaseSecret,
  wantedCopy,
} from "../../rollout";
import { fingerprint } from "../fingerprint";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen } from "./base";

interface CopyInputs extends CommonInputs, CertificateSecret {
  spec: EtcdSpec;
  alias: Alias;
  /** Filled in by `check`: of the certificate that is to be copied. */
  fingerprint?: string;
  /** Filled in by `check`: whether the copy is what it should be. */
  current?: boolean;
}

const REPLACING = ["namespace", "secretName", "certificateName"] as const;

/** Copies Secrets that somebody else maintains; what they hold never reaches the state. */
export const copiedSecret = {
  configure: configureAccess,

  async check(olds: Partial<CopyInputs>, news: CopyInputs) {
    return check(news, async (ports) => {
      if (olds.secretName !== news.secretName) await claimSecret(ports, news);
      const wanted = await wantedCopy(ports, news.spec, news.alias);
      return { fingerprint: of(wanted), current: !(await differs(ports, news.spec, wanted)) };
    });
  },

  async diff(_id: string, olds: CopyInputs, news: CopyInputs) {
    const replaces = REPLACING.filter((key) => olds[key] !== news[key]);
    if (replaces.length > 0) return { changes: true, replaces: [...replaces] };
    return diffWhen(news.current === false || olds.fingerprint !== news.fingerprint);
  },

  async create(inputs: CopyInputs) {
    return { id: `${inputs.namespace}/${inputs.secretName}`, outs: await copy(inputs) };
  },

  async update(_id: string, _olds: CopyInputs, news: CopyInputs) {
    return { outs: await copy(news) };
  },

  async read(id: string, props: CopyInputs) {
    return { id, props };
  },

  async delete(_id: string, props: CopyInputs) {
    await releaseSecret(await portsFor(props.resourceUrn), props);
  },
};

async function copy(inputs: CopyInputs) {
  const copied = await copyGiven(await portsFor(inputs.resourceUrn), inputs.spec, inputs.alias);
  return { ...inputs, fingerprint: of(copied), current: true };
}

function of({ material }: LeafSecret): string {
  return fingerprint(material.certificate);
}
