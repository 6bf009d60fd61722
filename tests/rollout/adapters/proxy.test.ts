import { createServer as createProxy, type Server } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { loadKubeConfig } from "../../../rollout/adapters";
import { ApiClient } from "../../../rollout/adapters/api-client";
import { proxyFor } from "../../../rollout/adapters/proxy";
import { TestAuthority } from "./tls-material";

const PROXY = "http://gateway.example.org:3128";
const API = "https://api.example.org:6443";

test.each<[string, NodeJS.ProcessEnv, string, string | undefined]>([
  ["none", {}, API, undefined],
  ["the one for https", { HTTPS_PROXY: PROXY }, API, PROXY],
  ["the one for https, in small letters", { https_proxy: PROXY }, API, PROXY],
  ["not the one for http", { HTTP_PROXY: PROXY }, API, undefined],
  ["the one for http", { HTTP_PROXY: PROXY }, "http://api.example.org", PROXY],
  ["a bare host", { HTTPS_PROXY: "gateway.example.org:3128" }, API, PROXY],
  ["none for this machine", { HTTPS_PROXY: PROXY }, "https://127.0.0.1:6443", undefined],
  ["none for this machine by name", { HTTPS_PROXY: PROXY }, "https://localhost:6443", undefined],
  ["none for this machine over IPv6", { HTTPS_PROXY: PROXY }, "https://[::1]:6443", undefined],
  ["none, for anybody", { HTTPS_PROXY: PROXY, NO_PROXY: "*" }, API, undefined],
  ["none for a name", { HTTPS_PROXY: PROXY, NO_PROXY: "a.org, api.example.org" }, API, undefined],
  ["none below a name", { HTTPS_PROXY: PROXY, NO_PROXY: "example.org" }, API, undefined],
  ["none below a dot", { HTTPS_PROXY: PROXY, no_proxy: ".example.org" }, API, undefined],
  ["one for the name before a dot", { HTTPS_PROXY: PROXY, NO_PROXY: ".api.example.org" }, API, PROXY],
  ["one where the name only ends so", { HTTPS_PROXY: PROXY, NO_PROXY: "ple.org" }, API, PROXY],
  ["none for a port", { HTTPS_PROXY: PROXY, NO_PROXY: "api.example.org:6443" }, API, undefined],
  ["one for another port", { HTTPS_PROXY: PROXY, NO_PROXY: "api.example.org:443" }, API, PROXY],
  ["none in a network", { HTTPS_PROXY: PROXY, NO_PROXY: "10.0.0.0/8" }, "https://10.96.0.1", undefined],
  ["one outside of it", { HTTPS_PROXY: PROXY, NO_PROXY: "10.0.0.0/8" }, "https://192.168.0.1", PROXY],
  ["none in a network of IPv6", { HTTPS_PROXY: PROXY, NO_PROXY: "fd00::/8" }, "https://[fd00::1]", undefined],
  ["none for an address", { HTTPS_PROXY: PROXY, NO_PROXY: "10.96.0.1" }, "https://10.96.0.1", undefined],
  ["one where the network is none", { HTTPS_PROXY: PROXY, NO_PROXY: "10.0.0.0/x" }, "https://10.0.0.1", PROXY],
])("%s", (_, env, server, expected) => {
  expect(proxyFor(server, env)).toBe(expected);
});

describe("an API server that is reached by a proxy alone", () => {
  let proxy: Server;
  const asked: string[] = [];
  const authority = new TestAuthority("kubernetes");
  const { certificate: cert, key } = authority.issue("api.example.org", ["DNS:api.example.org"]);
  const api = createServer({ cert, key }, (_, response) => response.end("{}"));

  beforeAll(async () => {
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    proxy = createProxy().on("connect", (request, socket, head) => {
      asked.push(request.url ?? "");
      const upstream = connect((api.address() as AddressInfo).port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });

  afterAll(() => {
    for (const server of [api, proxy]) {
      server.closeAllConnections();
      server.close();
    }
    authority.remove();
  });

  test("is reached by the one that the environment names", async () => {
    const ca = Buffer.from(authority.ca).toString("base64");
    const kubeconfig = JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster: { server: API, "certificate-authority-data": ca } }],
      users: [{ name: "u", user: { token: "t" } }],
    });
    const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const client = new ApiClient(loadKubeConfig({ kubeconfig }, { HTTPS_PROXY }));
    await client.request({ method: "GET", path: "/", verb: "get", object: "it", once: true });
    expect(asked).toEqual(["api.example.org:6443"]);
  });
});
