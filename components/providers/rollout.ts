import type { EtcdSpec } from "../../config/types";
import { carryOut, isGone, leaseName, previewRollout, type RolloutRequest } from "../../rollout";
import { configureAccess, holder, portsFor } from "./access";
import { type CommonInputs, check, diffWhen, same, UNKNOWN } from "./base";

interface RolloutInputs extends CommonInputs {
  spec: EtcdSpec;
  owner: string;
  /** What TrustBundle wants the bundle to hold in the end: whatever was widened is settled by the same update. */
  settled?: string;
  /** The cluster's own CA, PEM. */
  ca?: string;
  /** Fingerprints of the leaves that cert-manager does not make; in a preview not known where they are made anew. */
  leaves?: Record<string, string> | string;
  /** Filled in by `check`. */
  operation?: string;
  plan?: string[];
}

/** Walks the live members to the spec. */
export const rollout = {
  configure: configureAccess,

  async check(olds: Partial<RolloutInputs>, news: RolloutInputs) {
    return check(news, async (ports) => {
      const { operation, plan, notes } = await previewRollout(ports, known(olds, news), olds.spec);
      // The update itself tells of every step when it is done.
      if (news.dryRun) ports.report.plan([...plan, ...notes]);
      return { operation, plan };
    });
  },

  async diff(_id: string, olds: RolloutInputs, news: RolloutInputs) {
    const unfinished = (news.plan ?? []).length > 0;
    return diffWhen(isOther(olds, news), unfinished);
  },

  async create(inputs: RolloutInputs) {
    return { id: `${inputs.spec.namespace}/${inputs.spec.name}`, outs: await walk({}, inputs) };
  },

  async update(_id: string, olds: RolloutInputs, news: RolloutInputs) {
    return { outs: await walk(olds, news) };
  },

  /** A cluster of which nothing is here any more is forgotten by a refresh: it can then be made anew. */
  async read(id: string, props: RolloutInputs) {
    const ports = await portsFor(props.resourceUrn);
    if (await isGone(ports, props.spec)) return { id: "", props: {} };
    return { id, props };
  },

  async delete(_id: string, { resourceUrn, spec }: RolloutInputs) {
    const { kube } = await portsFor(resourceUrn);
    await kube.delete("coordination.k8s.io/v1", "Lease", spec.namespace, leaseName(spec));
  },
};

function isOther(olds: RolloutInputs, news: RolloutInputs): boolean {
  return !same(olds.spec, news.spec) || olds.settled !== news.settled || !same(olds.leaves, news.leaves);
}

/** Before TrustBundle has run, and a CA is made anew, preview does not know what it will find. */
function known(olds: Partial<RolloutInputs>, { spec, owner, settled, ca, leaves }: RolloutInputs): RolloutRequest {
  return {
    spec,
    owner,
    ...(settled !== undefined && settled !== UNKNOWN && { settled }),
    ...(ca !== undefined && ca !== UNKNOWN && { ca }),
    renewed: leaves !== undefined && !same(olds.leaves, leaves),
  };
}

async function walk(olds: Partial<RolloutInputs>, inputs: RolloutInputs) {
  const ports = await portsFor(inputs.resourceUrn);
  const outcome = await carryOut(ports, { ...known(olds, inputs), holder }, olds.spec);
  return { ...inputs, ...outcome, completedAt: new Date(ports.clock.now()).toISOString() };
}
