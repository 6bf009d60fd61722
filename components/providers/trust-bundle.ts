import { trustBundleName } from "../../config";
import { trustRevision } from "../../manifests";
import { releaseTrustBundle, type TrustTarget, widenTrust } from "../../rollout";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same } from "./base";

interface TrustInputs extends CommonInputs, TrustTarget {
  /** Filled in by `check`: whether the ConfigMap is there. */
  present?: boolean;
}

/** Widens the CAs that members accept before any new leaf exists. */
export const trustBundle = {
  configure: configureAccess,

  async check(_olds: Partial<TrustInputs>, news: TrustInputs) {
    return check(news, async (ports) => {
      const data = await ports.kube.configMapData(news.namespace, trustBundleName(news));
      return { present: data?.["ca.crt"] !== undefined };
    });
  },

  async diff(_id: string, olds: TrustInputs, news: TrustInputs) {
    return diffWhen(!news.present || !same(olds.issuers, news.issuers));
  },

  async create(inputs: TrustInputs) {
    return { id: `${inputs.namespace}/${trustBundleName(inputs)}`, outs: await widen(inputs) };
  },

  async update(_id: string, _olds: TrustInputs, news: TrustInputs) {
    return { outs: await widen(news) };
  },

  /** What the ConfigMap holds now, so that a refresh shows when somebody changed it. */
  async read(id: string, props: TrustInputs) {
    const ports = await portsFor(props.urn);
    const caBundle = (await ports.kube.configMapData(props.namespace, trustBundleName(props)))?.["ca.crt"];
    if (caBundle === undefined) return { id: "", props: {} };
    return { id, props: { ...props, caBundle, revision: trustRevision(caBundle) } };
  },

  async delete(_id: string, props: TrustInputs) {
    const ports = await portsFor(props.urn);
    await releaseTrustBundle(ports, props.namespace, trustBundleName(props));
  },
};

async function widen(inputs: TrustInputs) {
  const state = await widenTrust(await portsFor(inputs.urn), inputs);
  return { ...inputs, present: true, ...state };
}
