import type { EtcdSpec } from "../../config/types";
import { ClusterView, inspectMembership, markVolumes, verifyMembership } from "../../rollout";
import { configureAccess, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same } from "./base";

interface MembershipInputs extends CommonInputs {
  spec: EtcdSpec;
  /** When the last walk ended: after each, the cluster is verified anew. */
  rolloutCompletedAt: string;
  /** Filled in by `check`: in what the cluster differs from a spec that has not changed. */
  drift?: string[];
}

/** Verifies the cluster from outside; its outputs are the stack's. */
export const membership = {
  configure: configureAccess,

  async check(olds: Partial<MembershipInputs>, news: MembershipInputs) {
    return check(news, async (ports) => {
      if (olds.rolloutCompletedAt !== news.rolloutCompletedAt || !same(olds.spec, news.spec)) return {};
      return { drift: await look(new ClusterView(ports, news.spec, news.spec.tls)) };
    });
  },

  async diff(_id: string, olds: MembershipInputs, news: MembershipInputs) {
    const drifted = (news.drift ?? []).length > 0;
    return diffWhen(olds.rolloutCompletedAt !== news.rolloutCompletedAt || !same(olds.spec, news.spec), drifted);
  },

  async create(inputs: MembershipInputs) {
    return { id: `${inputs.spec.namespace}/${inputs.spec.name}`, outs: await verify(inputs) };
  },

  async update(_id: string, _olds: MembershipInputs, news: MembershipInputs) {
    return { outs: await verify(news) };
  },

  async read(id: string, props: MembershipInputs) {
    return { id, props };
  },

  async delete() {},
};

/** A passing hiccup is no drift: what is wrong has to be wrong for some seconds. */
async function look(view: ClusterView): Promise<string[]> {
  let reasons: string[] = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    if (attempt > 0) await view.ports.clock.sleep(1500);
    ({ reasons } = await inspectMembership(view).catch((error: Error) => ({ reasons: [error.message] })));
    if (reasons.length === 0) return [];
  }
  return reasons;
}

async function verify(inputs: MembershipInputs) {
  const ports = await portsFor(inputs.resourceUrn);
  const facts = await verifyMembership(ports, inputs.spec);
  await markVolumes(ports, inputs.spec);
  return { ...inputs, drift: [], ...facts };
}
