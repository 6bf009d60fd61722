import { BlockList, isIP, isIPv4 } from "node:net";

/**
 * The proxy that a server is reached by, as the environment has it: `HTTPS_PROXY` or `HTTP_PROXY` by the server's scheme,
 * unless `NO_PROXY` names it; small letters do as well. The rules are those of Go's `http.ProxyFromEnvironment`, by which
 * kubectl and Pulumi's Kubernetes provider go: this machine's own addresses are never asked by a proxy, `NO_PROXY` knows
 * `*`, names with all below them, addresses, networks (`10.0.0.0/8`), and each of them with a port.
 */
export function proxyFor(server: string, env: NodeJS.ProcessEnv): string | undefined {
  const url = new URL(server);
  const scheme = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[scheme] || env[scheme.toLowerCase()];
  if (!proxy || isExempt(url, env.NO_PROXY || env.no_proxy || "")) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isExempt(url: URL, rules: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || isLoopback(host)) return true;
  return rules
    .split(",")
    .map((rule) => rule.trim().toLowerCase())
    .some((rule) => rule !== "" && matches(rule, host, port));
}

function isLoopback(host: string): boolean {
  return host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

function matches(rule: string, host: string, port: string): boolean {
  if (rule === "*") return true;
  if (rule.includes("/")) return isIP(host) !== 0 && isWithin(rule, host);
  const [, name = rule, only] = /^(.+?)(?::(\d+))?$/.exec(isIP(rule) === 6 ? `[${rule}]` : rule) ?? [];
  if (only !== undefined && only !== port) return false;
  const bare = name.replace(/^\[|\]$/g, "").replace(/^\*/, "");
  if (isIP(bare)) return bare === host;
  // A name stands for itself and for all below it; one that begins with a dot for those alone.
  return host.endsWith(bare.startsWith(".") ? bare : `.${bare}`) || host === bare;
}

function isWithin(network: string, host: string): boolean {
  const [address = "", length = ""] = network.split("/");
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  const list = new BlockList();
  try {
    list.addSubnet(address, Number(length), family);
  } catch {
    // What is no network exempts nobody, as in Go.
    return false;
  }
  return list.check(host, isIP(host) === 6 ? "ipv6" : "ipv4");
}
