import type { EtcdSpec, HostsAccess } from "../../config/types";
import {
  carryOutHosts,
  type EarlierHosts,
  type HandedLeaf,
  type HostsPorts,
  type HostsRequest,
  previewHosts,
  verifyMembership,
} from "../../rollout";
import { openHosts } from "../../rollout/adapters/hosts";
import { configureAccess, holder } from "./access";
import { type CommonInputs, check, diffWhen, same, UNKNOWN } from "./base";
import { endWithEngine } from "./engine-connection";
import { EngineReport } from "./report";

interface HostsInputs extends CommonInputs {
  spec: EtcdSpec;
  access: HostsAccess;
  owner: string;
  /** PEM. */
  ca?: string;
  /** Secret: certificates with their keys, by their folder on the hosts. */
  leaves?: Record<string, HandedLeaf>;
  /** Filled in by `check`. */
  operation?: string;
  plan?: string[];
}

/** Installs a member on every host, and walks those that run to the spec. */
export const hosts = {
  configure: configureAccess,

  async check(olds: Partial<HostsInputs>, news: HostsInputs) {
    return check(
      news,
      async (ports) => {
        const { operation, plan, notes } = isKnown(news)
          ? await previewHosts(ports, requestOf(news), earlierOf(olds))
          : await previewUnknown(ports);
        if (news.dryRun) ports.report.plan([...plan, ...notes]);
        return { operation, plan };
      },
      () => portsOf(news),
    );
  },

  async diff(_id: string, olds: HostsInputs, news: HostsInputs) {
    const wanted = ({ spec, ca, leaves }: HostsInputs) => [spec, ca, leaves];
    return diffWhen(!same(wanted(olds), wanted(news)), (news.plan ?? []).length > 0);
  },

  async create(inputs: HostsInputs) {
    return { id: `${inputs.owner}/${inputs.spec.name}`, outs: await walk(inputs, undefined) };
  },

  async update(_id: string, olds: HostsInputs, news: HostsInputs) {
    return { outs: await walk(news, earlierOf(olds)) };
  },

  async read(id: string, props: HostsInputs) {
    return { id, props };
  },

  async delete(_id: string, props: HostsInputs) {
    await portsOf(props).hosts.uninstall();
  },
};

async function walk(inputs: HostsInputs, earlier: EarlierHosts | undefined) {
  const ports = portsOf(inputs);
  const outcome = await carryOutHosts(ports, { ...requestOf(inputs), holder }, earlier);
  const { endpoints, members } = await verifyMembership(ports, inputs.spec);
  return { ...inputs, ...outcome, endpoints, members, completedAt: new Date(ports.clock.now()).toISOString() };
}

/** Certificates that this update makes itself are not known in its preview. */
function isKnown({ ca, leaves }: HostsInputs): boolean {
  return !JSON.stringify([ca, leaves]).includes(UNKNOWN);
}

async function previewUnknown(ports: HostsPorts) {
  await ports.kube.ping();
  const step = "install the certificates that this update makes, and walk the members where they need it";
  return { operation: "reissue", plan: [step], notes: [] };
}

function requestOf({ spec, owner, ca, leaves = {} }: HostsInputs): HostsRequest {
  return { spec, owner, leaves, ...(ca !== undefined && { ca }) };
}

function earlierOf({ spec, ca }: Partial<HostsInputs>): EarlierHosts | undefined {
  return spec && { spec, ...(ca !== undefined && { ca }) };
}

const opened = new Map<string, Omit<HostsPorts, "report">>();

/** The engine's ports to the hosts; progress goes to the resource's own row. */
function portsOf({ spec, access, resourceUrn }: HostsInputs): HostsPorts & { report: EngineReport } {
  endWithEngine();
  const key = JSON.stringify([spec.hosts, access]);
  const ports = opened.get(key) ?? openHosts(spec, access);
  opened.set(key, ports);
  return { ...ports, report: new EngineReport(resourceUrn) };
}
