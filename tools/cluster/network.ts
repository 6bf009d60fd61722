import { output } from "../command.ts";
import { debianEnvironment, debianFolder } from "../debian.ts";
import { UserError } from "../errors.ts";
import type { ProcessIdentity } from "../process-identity.ts";
import { cloneNumber } from "./clone.ts";
import { runInside } from "./keeper.ts";
import { fixed, type Settings } from "./settings.ts";

/**
 * Picks the addresses of the link between the machine and the cluster: a /30 in
 * 10.213.0.0/16 that no route of the machine covers.
 */
export async function chooseAddresses(): Promise<Pick<Settings, "hostAddress" | "nodeAddress">> {
  const routes = (await ip(["-4", "route", "show", "table", "all"])).split("\n").flatMap(parseRoute);
  for (let attempt = 0; attempt < 16384; attempt++) {
    const network = ((10 << 24) | (213 << 16) | (((cloneNumber + attempt) % 16384) << 2)) >>> 0;
    if (!routes.some((route) => overlaps(route, network))) {
      return { hostAddress: dotted(network + 1), nodeAddress: dotted(network + 2) };
    }
  }
  throw new UserError('no free /30 network in 10.213.0.0/16: remove a route to that range, see "ip route"');
}

interface Route {
  network: number;
  prefix: number;
}

function parseRoute(line: string): Route[] {
  const match = line.match(/^(?:\w+ )?(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?/);
  if (!match) return []; // the default route and the like cover everything and stand in nobody's way
  const [a, b, c, d] = match.slice(1, 5).map(Number) as [number, number, number, number];
  return [{ network: ((a << 24) | (b << 16) | (c << 8) | d) >>> 0, prefix: Number(match[5] ?? 32) }];
}

function overlaps(route: Route, network: number): boolean {
  if (route.prefix === 0) return false;
  const shift = 32 - Math.min(route.prefix, 30);
  return route.network >>> shift === network >>> shift;
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");
}

/** Links the machine with the cluster. The far end goes with the cluster's network namespace, and this end with it. */
export async function connect(keeper: ProcessIdentity, settings: Settings): Promise<void> {
  const far = ["peer", "name", "uplink", "netns", String(keeper.pid)];
  await ip(["link", "add", fixed.hostInterface, "type", "veth", ...far]);
  await ip(["address", "add", `${settings.hostAddress}/30`, "dev", fixed.hostInterface]);
  await ip(["link", "set", fixed.hostInterface, "up"]);
  const commands = [
    "ip link set lo up",
    `ip address add ${settings.nodeAddress}/30 dev uplink`,
    "ip link set uplink up",
    // Without any route the kernel refuses Service addresses before kube-proxy's rules are asked.
    `ip route add ${fixed.serviceSubnet} dev uplink`,
    "echo 1 > /proc/sys/net/ipv4/ip_forward",
  ];
  await runInside(keeper, "sh", ["-euc", commands.join("\n")]);
}

export async function removeLink(): Promise<void> {
  await ip(["link", "delete", fixed.hostInterface]).catch(() => ""); // gone with its far end, as a rule
}

function ip(args: string[]): Promise<string> {
  return output("ip", args, { env: debianEnvironment(debianFolder()) });
}
