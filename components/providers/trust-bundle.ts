import { trustBundleName } from "../../config";
import type { EtcdSpec } from "../../config/types";
import { trustRevision } from "../../manifests";
import { issuersOf, type Ports, previewTrust, releaseTrustBundle, widenTrust } from "../../rollout";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same } from "./base";

interface TrustInputs extends CommonInputs {
  spec: EtcdSpec;
  owner: string;
  /** Filled in by `check`: what would be done, and what the bundle would hold in the end where that can be told. */
  plan?: string[];
  expected?: string;
  /** Filled in by `check`: whether the ConfigMap is there. */
  present?: boolean;
}

/** What `widen` leaves in the outputs. */
interface TrustOutputs extends TrustInputs {
  settled: string;
  revision: string;
}

/** Widens the CAs that members accept before any new leaf exists. */
export const trustBundle = {
  configure: configureAccess,

  async check(_olds: Partial<TrustInputs>, news: TrustInputs) {
    return check(news, async (ports) => {
      const { plan, notes, settled } = await previewTrust(ports, news);
      ports.report.plan([...plan, ...notes]);
      const present = (await read(ports, news.spec)) !== undefined;
      return { plan, present, ...(settled && { expected: trustRevision(settled) }) };
    });
  },

  /** Another CA is wanted, or one behind an unchanged issuer has changed, or somebody took the bundle away. */
  async diff(_id: string, olds: TrustOutputs, news: TrustInputs) {
    const wanted = ({ spec }: TrustInputs) => [issuersOf(spec), spec.tls?.trustedCAs];
    const changed = news.expected !== undefined && news.expected !== trustRevision(olds.settled);
    return diffWhen(changed || !same(wanted(olds), wanted(news)) || !news.present);
  },

  async create(inputs: TrustInputs) {
    const { namespace } = inputs.spec;
    return { id: `${namespace}/${trustBundleName(inputs.spec)}`, outs: await widen(inputs) };
  },

  async update(_id: string, _olds: TrustOutputs, news: TrustInputs) {
    return { outs: await widen(news) };
  },

  /** What the ConfigMap holds now, so that a refresh shows when somebody changed it. */
  async read(id: string, props: TrustOutputs) {
    const caBundle = await read(await portsFor(props.resourceUrn), props.spec);
    if (caBundle === undefined) return { id: "", props: {} };
    return { id, props: { ...props, caBundle, revision: trustRevision(caBundle) } };
  },

  async delete(_id: string, { resourceUrn, spec }: TrustOutputs) {
    await releaseTrustBundle(await portsFor(resourceUrn), spec.namespace, trustBundleName(spec));
  },
};

async function read(ports: Ports, spec: EtcdSpec): Promise<string | undefined> {
  return (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"];
}

async function widen(inputs: TrustInputs) {
  return { ...inputs, present: true, ...(await widenTrust(await portsFor(inputs.resourceUrn), inputs)) };
}
