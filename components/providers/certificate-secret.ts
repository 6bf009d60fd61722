import { type CertificateSecret, claimSecret, releaseSecret } from "../../rollout";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen } from "./base";

type SecretInputs = CommonInputs & CertificateSecret;

/**
 * Stands for the Secret that cert-manager fills. Its Certificate depends on it, so on the way out the Secret goes
 * after the Certificate, and only once no pod mounts it.
 */
export const certificateSecret = {
  configure: configureAccess,

  async check(olds: Partial<SecretInputs>, news: SecretInputs) {
    return check(news, async (ports) => {
      if (olds.secretName !== news.secretName) await claimSecret(ports, news);
      return {};
    });
  },

  async diff(_id: string, olds: SecretInputs, news: SecretInputs) {
    const replaces = (["namespace", "secretName", "certificateName"] as const).filter((key) => olds[key] !== news[key]);
    return replaces.length > 0 ? { changes: true, replaces } : diffWhen(false);
  },

  async create(inputs: SecretInputs) {
    return { id: `${inputs.namespace}/${inputs.secretName}`, outs: inputs };
  },

  async update(_id: string, _olds: SecretInputs, news: SecretInputs) {
    return { outs: news };
  },

  async read(id: string, props: SecretInputs) {
    return { id, props };
  },

  async delete(_id: string, props: SecretInputs) {
    await releaseSecret(await portsFor(props.resourceUrn), props);
  },
};
