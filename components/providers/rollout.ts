import type { EtcdSpec } from "../../config/types";
import { carryOut, leaseName, previewRollout, type RolloutRequest } from "../../rollout";
import { configureAccess, holder, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same, UNKNOWN } from "./base";

interface RolloutInputs extends CommonInputs {
  spec: EtcdSpec;
  owner: string;
  /** What TrustBundle wants the bundle to hold in the end: whatever was widened is settled by the same update. */
  settled?: string;
  /** Filled in by `check`. */
  operation?: string;
  plan?: string[];
}

/** Walks the live members to the spec. */
export const rollout = {
  configure: configureAccess,

  async check(olds: Partial<RolloutInputs>, news: RolloutInputs) {
    return check(news, async (ports) => {
      const { operation, plan, notes } = await previewRollout(ports, known(news), olds.spec);
      // The update itself tells of every step when it is done.
      if (news.dryRun) ports.report.plan([...plan, ...notes]);
      return { operation, plan };
    });
  },

  async diff(_id: string, olds: RolloutInputs, news: RolloutInputs) {
    const unfinished = (news.plan ?? []).length > 0;
    return diffWhen(unfinished || !same(olds.spec, news.spec) || olds.settled !== news.settled);
  },

  async create(inputs: RolloutInputs) {
    return { id: `${inputs.spec.namespace}/${inputs.spec.name}`, outs: await walk(inputs, undefined) };
  },

  async update(_id: string, olds: RolloutInputs, news: RolloutInputs) {
    return { outs: await walk(news, olds.spec) };
  },

  async read(id: string, props: RolloutInputs) {
    return { id, props };
  },

  async delete(_id: string, { resourceUrn, spec }: RolloutInputs) {
    const { kube } = await portsFor(resourceUrn);
    await kube.delete("coordination.k8s.io/v1", "Lease", spec.namespace, leaseName(spec));
  },
};

/** Before TrustBundle has run, preview does not know what it will find. */
function known({ spec, owner, settled }: RolloutInputs): RolloutRequest {
  return { spec, owner, ...(settled !== undefined && settled !== UNKNOWN && { settled }) };
}

async function walk(inputs: RolloutInputs, previous: EtcdSpec | undefined) {
  const ports = await portsFor(inputs.resourceUrn);
  const outcome = await carryOut(ports, { ...known(inputs), holder }, previous);
  return { ...inputs, ...outcome, completedAt: new Date(ports.clock.now()).toISOString() };
}
