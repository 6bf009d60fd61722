import type { Alias, EtcdSpec } from "../../config/types";
import { claimSecret, copyGiven, differs, type LeafSecret, wantedCopy } from "../../rollout";
import { fingerprint } from "../fingerprint";
import { portsFor } from "./access";
import { check, diffWhen } from "./base";
import { anotherSecret, type HeldSecret, heldSecret, secretId } from "./held-secret";

interface CopyInputs extends HeldSecret {
  spec: EtcdSpec;
  alias: Alias;
  /** Filled in by `check`: of the certificate that is to be copied. */
  fingerprint?: string;
  /** Filled in by `check`: whether the copy is what it should be. */
  current?: boolean;
}

/** Copies Secrets that somebody else maintains; what they hold never reaches the state. */
export const copiedSecret = {
  ...heldSecret,

  async check(olds: Partial<CopyInputs>, news: CopyInputs) {
    return check(news, async (ports) => {
      if (olds.secretName !== news.secretName) await claimSecret(ports, news);
      const wanted = await wantedCopy(ports, news.spec, news.alias);
      return { fingerprint: of(wanted), current: !(await differs(ports, news.spec, wanted)) };
    });
  },

  async diff(_id: string, olds: CopyInputs, news: CopyInputs) {
    return anotherSecret(olds, news) ?? diffWhen(olds.fingerprint !== news.fingerprint, news.current === false);
  },

  async create(inputs: CopyInputs) {
    return { id: secretId(inputs), outs: await copy(inputs) };
  },

  async update(_id: string, _olds: CopyInputs, news: CopyInputs) {
    return { outs: await copy(news) };
  },
};

async function copy(inputs: CopyInputs) {
  const copied = await copyGiven(await portsFor(inputs.resourceUrn), inputs.spec, inputs.alias);
  return { ...inputs, fingerprint: of(copied), current: true };
}

function of({ material }: LeafSecret): string {
  return fingerprint(material.certificate);
}
