import { trustBundleName } from "../../config";
import type { EtcdSpec } from "../../config/types";
import { trustRevision } from "../../manifests";
import { type Ports, previewTrust, releaseTrustBundle, type TrustRequest, widenTrust } from "../../rollout";
import { issuedFor } from "../issued-for";
import { configureAccess, holder, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same, UNKNOWN } from "./base";

interface TrustInputs extends CommonInputs {
  spec: EtcdSpec;
  owner: string;
  /** The cluster's own CA, PEM. */
  ca?: string;
  /** Filled in by `check`: what would be done, and what the bundle would hold in the end where that can be told. */
  plan?: string[];
  expected?: string;
  /** Filled in by `check`: whether the ConfigMap is there. */
  present?: boolean;
  /** Filled in by `check`: whether members are yet to be made to trust something. */
  unfinished?: boolean;
}

/** Widens the CAs that members accept before any new leaf exists. */
export const trustBundle = {
  configure: configureAccess,

  async check(olds: Partial<TrustInputs>, news: TrustInputs) {
    return check(news, async (ports) => {
      const { plan, notes, settled, unfinished } = await previewTrust(ports, {
        ...requestOf(news),
        ...(olds.spec && { previous: olds.spec }),
      });
      const present = (await read(ports, news.spec)) !== undefined;
      const found = { present, unfinished, ...(settled && { expected: trustRevision(settled) }) };
      if (!isOther(olds, { ...news, ...found }) && !isAmiss(found)) return { plan: [], ...found };
      if (news.dryRun) ports.report.plan([...plan, ...notes]);
      return { plan, ...found };
    });
  },

  async diff(_id: string, olds: TrustInputs, news: TrustInputs) {
    return diffWhen(isOther(olds, news), isAmiss(news));
  },

  async create(inputs: TrustInputs) {
    const { namespace } = inputs.spec;
    return { id: `${namespace}/${trustBundleName(inputs.spec)}`, outs: await widen(inputs) };
  },

  async update(_id: string, _olds: TrustInputs, news: TrustInputs) {
    return { outs: await widen(news) };
  },

  /** What the ConfigMap holds now, so that a refresh shows when somebody changed it. */
  async read(id: string, props: TrustInputs) {
    const caBundle = await read(await portsFor(props.resourceUrn), props.spec);
    if (caBundle === undefined) return { id: "", props: {} };
    return { id, props: { ...props, caBundle, revision: trustRevision(caBundle) } };
  },

  async delete(_id: string, { resourceUrn, spec }: TrustInputs) {
    await releaseTrustBundle(await portsFor(resourceUrn), spec.namespace, trustBundleName(spec));
  },
};

/**
 * Another CA is wanted, or the one behind an unchanged issuer has changed, or the issuer is about to be asked for leaves:
 * it is asked for its CA before that, since it may sign with another one now, and may refuse what is asked.
 */
function isOther(olds: Partial<TrustInputs>, news: TrustInputs): boolean {
  if (!olds.spec || olds.ca !== news.ca) return true;
  const behind = olds.expected !== undefined && news.expected !== undefined && olds.expected !== news.expected;
  return behind || !same(issuedFor(olds.spec), issuedFor(news.spec));
}

/** Somebody took the bundle away, or not every member trusts it yet. */
function isAmiss({ present, unfinished }: Pick<TrustInputs, "present" | "unfinished">): boolean {
  return !present || unfinished === true;
}

/** In a preview a CA that is made anew is not known. */
function requestOf({ spec, owner, ca }: TrustInputs): TrustRequest {
  return { spec, owner, ...(ca !== undefined && ca !== UNKNOWN && { ca }) };
}

async function read(ports: Ports, spec: EtcdSpec): Promise<string | undefined> {
  return (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"];
}

async function widen(inputs: TrustInputs) {
  const request = { ...requestOf(inputs), holder };
  const outcome = await widenTrust(await portsFor(inputs.resourceUrn), request);
  return { ...inputs, present: true, unfinished: false, ...outcome };
}
