import type { EtcdSpec } from "../../config/types";
import { carryOut, previewRollout } from "../../rollout";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same } from "./base";

interface RolloutInputs extends CommonInputs {
  spec: EtcdSpec;
  owner: string;
  /** Revision that TrustBundle reached: whatever was widened is settled by the same update. */
  bundleRevision?: string;
  /** Filled in by `check`. */
  operation?: string;
  plan?: string[];
}

/** Walks the live members to the spec. */
export const rollout = {
  configure: configureAccess,

  async check(olds: Partial<RolloutInputs>, news: RolloutInputs) {
    return check(news, async (ports) => {
      const { operation, plan, notes } = await previewRollout(ports, news, olds.spec);
      for (const line of [...plan, ...notes]) ports.report.step({ step: line });
      return { operation, plan };
    });
  },

  async diff(_id: string, olds: RolloutInputs, news: RolloutInputs) {
    const unfinished = (news.plan ?? []).length > 0;
    return diffWhen(unfinished || !same(olds.spec, news.spec) || olds.bundleRevision !== news.bundleRevision);
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

  async delete() {},
};

async function walk(inputs: RolloutInputs, previous: EtcdSpec | undefined) {
  const ports = await portsFor(inputs.urn);
  const outcome = await carryOut(ports, inputs, previous);
  return { ...inputs, ...outcome, completedAt: new Date(ports.clock.now()).toISOString() };
}
