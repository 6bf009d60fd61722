import { hostSans, parseHosts } from "../../../../config";
import type { EtcdSpec } from "../../../../config/types";
import {
  carryOutHosts,
  type EarlierHosts,
  type HostsPorts,
  type HostsRequest,
  type Outcome,
  type Preview,
  previewHosts,
} from "../../../../rollout";
import { openHosts } from "../../../../rollout/adapters/hosts";
import type { Leaf, TestAuthority } from "../tls-material";
import { TestHost } from "./test-host";

export interface Update {
  preview: Preview;
  outcome: Outcome;
}

/** Hosts of this machine, and what Pulumi would remember of the cluster on them. */
export class HostsCluster {
  readonly hosts: TestHost[];
  earlier: EarlierHosts | undefined;
  #opened: (() => Promise<void>)[] = [];

  constructor(private readonly addresses: string[]) {
    this.hosts = addresses.map((address, i) => new TestHost(`etcd-${i}`, address));
  }

  async start(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.start()));
  }

  async remove(): Promise<void> {
    await this.close();
    await Promise.all(this.hosts.map((host) => host.remove()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((close) => close()));
  }

  /** The keys as a user would write them. */
  config(further: Record<string, unknown>): Record<string, unknown> {
    const hosts = this.hosts.map(({ name, address, access }) => {
      const { port, privateKeyFile, hostKey } = access;
      return { name, address, ssh: { port, privateKeyFile, hostKey } };
    });
    return { hosts, rollout: { stepTimeout: "3m" }, ...further };
  }

  /** Ports of their own for every update, as another run of Pulumi has them. */
  ports(spec: EtcdSpec, further: Record<string, unknown> = {}): HostsPorts {
    const { access } = parseHosts(this.config(further));
    const { close, ...ports } = openHosts(spec, access);
    this.#opened.push(close);
    return { ...ports, report: { step: () => undefined } };
  }

  request(further: Record<string, unknown>, ca?: TestAuthority[], leaves: Record<string, Leaf> = {}): HostsRequest {
    const own = Object.keys(leaves) as ("server" | "peer" | "client")[];
    const { spec } = parseHosts(this.config(further), own.length > 0 ? own : ["server"]);
    const handed = Object.entries(leaves).map(([name, { certificate, key }]) => [name, { certificate, key }]);
    const pem = ca?.map((authority) => authority.ca).join("");
    return {
      spec,
      owner: "org/project/stack",
      holder: `test/${Math.random()}`,
      leaves: Object.fromEntries(handed),
      ...(pem && { ca: pem }),
    };
  }

  /** Preview and update, one after the other, as `pulumi up` does. */
  async up(request: HostsRequest, wrap: (ports: HostsPorts) => HostsPorts = (ports) => ports): Promise<Update> {
    const preview = await previewHosts(this.ports(request.spec), request, this.earlier);
    const outcome = await carryOutHosts(wrap(this.ports(request.spec)), request, this.earlier);
    this.earlier = { spec: request.spec, ...(request.ca !== undefined && { ca: request.ca }) };
    return { preview, outcome };
  }

  /** What an update would do now that changes nothing. */
  async plan(request: HostsRequest): Promise<string[]> {
    return (await previewHosts(this.ports(request.spec), request, this.earlier)).plan;
  }

  leaf(authority: TestAuthority, name: string): Leaf {
    const members = this.addresses.map((address, i) => ({ name: `etcd-${i}`, address, listenAddress: address }));
    const { dnsNames, ipAddresses } = hostSans({ members });
    return authority.issue(name, [
      ...dnsNames.map((each) => `DNS:${each}`),
      ...ipAddresses.map((each) => `IP:${each}`),
    ]);
  }
}
