import { claimSecret } from "../../rollout";
import { check, diffWhen } from "./base";
import { anotherSecret, type HeldSecret, heldSecret, secretId } from "./held-secret";

/**
 * Stands for the Secret that cert-manager fills. Its Certificate depends on it, so on the way out the Secret goes
 * after the Certificate, and only once no pod mounts it.
 */
export const certificateSecret = {
  ...heldSecret,

  async check(olds: Partial<HeldSecret>, news: HeldSecret) {
    return check(news, async (ports) => {
      if (olds.secretName !== news.secretName) await claimSecret(ports, news);
      return {};
    });
  },

  async diff(_id: string, olds: HeldSecret, news: HeldSecret) {
    return anotherSecret(olds, news) ?? diffWhen(false);
  },

  async create(inputs: HeldSecret) {
    return { id: secretId(inputs), outs: inputs };
  },

  async update(_id: string, _olds: HeldSecret, news: HeldSecret) {
    return { outs: news };
  },
};
