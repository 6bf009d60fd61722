import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface SeenRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Break the connection instead of answering. */
  reset?: boolean;
  /** Never answer. */
  silent?: boolean;
}

type Handler = Reply | ((request: SeenRequest) => Reply);

const kinds: Record<string, { name: string; kind: string; namespaced: boolean }[]> = {
  "/api/v1": [
    { name: "pods", kind: "Pod", namespaced: true },
    { name: "pods/eviction", kind: "Eviction", namespaced: true },
    { name: "secrets", kind: "Secret", namespaced: true },
    { name: "configmaps", kind: "ConfigMap", namespaced: true },
  ],
  "/apis/apps/v1": [{ name: "statefulsets", kind: "StatefulSet", namespaced: true }],
  "/apis/cert-manager.io/v1": [
    { name: "issuers", kind: "Issuer", namespaced: true },
    { name: "clusterissuers", kind: "ClusterIssuer", namespaced: false },
  ],
};

/** An API server that answers what a test tells it to, in order, and remembers what it was asked. */
export class FakeApiServer {
  readonly seen: SeenRequest[] = [];
  readonly server: Server;
  readonly #answers = new Map<string, Handler[]>();
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.server = createServer((incoming, outgoing) => {
      let text = "";
      incoming.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      incoming.on("end", () => {
        const url = new URL(incoming.url!, "http://fake");
        const body = text ? JSON.parse(text) : undefined;
        const { method = "GET", headers } = incoming;
        const request = { method, path: url.pathname, query: Object.fromEntries(url.searchParams), headers, body };
        this.seen.push(request);
        const reply = this.#reply(request);
        if (reply.reset) incoming.socket.resetAndDestroy();
        if (reply.reset || reply.silent) return;
        outgoing.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
        outgoing.end(JSON.stringify(reply.body ?? {}));
      });
    });
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get kubeconfig(): string {
    return JSON.stringify({
      "current-context": "fake",
      clusters: [{ name: "fake", cluster: { server: this.address } }],
      users: [{ name: "tester", user: { token: "s3cr3t-token" } }],
      contexts: [{ name: "fake", context: { cluster: "fake", user: "tester" } }],
    });
  }

  /** The last of several answers is given again and again. */
  on(method: string, path: string, ...answers: Handler[]): void {
    this.#answers.set(`${method} ${path}`, answers);
  }

  /** Requests apart from discovery. */
  asked(method: string, path: string): SeenRequest[] {
    return this.seen.filter((request) => request.method === method && request.path === path);
  }

  #reply(request: SeenRequest): Reply {
    const answers = this.#answers.get(`${request.method} ${request.path}`);
    const answer = answers && (answers.length > 1 ? answers.shift()! : answers[0]!);
    if (answer) return typeof answer === "function" ? answer(request) : answer;
    const resources = kinds[request.path];
    if (resources && request.method === "GET") return { body: { kind: "APIResourceList", resources } };
    return failure(404, "the server could not find the requested resource");
  }
}

export function failure(status: number, message: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: { kind: "Status", status: "Failure", code: status, message } };
}
