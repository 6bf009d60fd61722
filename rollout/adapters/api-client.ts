import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { performance } from "node:perf_hooks";
import type { KubeConfig } from "@kubernetes/client-node";
import { serverOf } from "./access";
import { KubeError, reasonOfStatus } from "./kube-error";
import { describeNetworkError, isTransient } from "./network-error";
import { redact } from "./redact";

export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with encoded segments, without the query. */
  path: string;
  query?: Record<string, string>;
  body?: object;
  /** Default `application/json`. */
  contentType?: string;
  /** For messages: what is being done, such as `apply`. */
  verb: string;
  /** For messages: to what, such as `Secret default/etcd-server-cert`. */
  object: string;
  /** HTTP statuses to try again on. Default 429, 500, 503, 504. Broken connections always are, unless `once`. */
  retryOn?: number[];
  /** Give up at the first failure. */
  once?: boolean;
}

export interface ApiClientOptions {
  /** Longest wait for one answer, in milliseconds. Default 15000. */
  timeoutMs?: number;
  /** Time within which failed attempts are repeated, in milliseconds. Default 20000. */
  retryBudgetMs?: number;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Server-side apply answers 500, as if it were at fault, to a body whose fields have the wrong type. */
const malformedPatch = /^failed to (create typed patch|convert new) object/;

type Outcome = { value: unknown } | { error: KubeError; retry: boolean; retryAfterMs?: number };

/**
 * JSON over HTTP to a Kubernetes API server: time limits, retries and errors.
 *
 * Every request that goes through here must be safe to repeat.
 */
export class ApiClient {
  readonly server: string;
  readonly #config: KubeConfig;
  readonly #timeoutMs: number;
  readonly #retryBudgetMs: number;
  /** What the last answer said that the time was, in milliseconds since 1970; whole seconds. */
  serverTime: number | undefined;

  constructor(config: KubeConfig, options: ApiClientOptions = {}) {
    this.#config = config;
    this.server = serverOf(config);
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#retryBudgetMs = options.retryBudgetMs ?? 20_000;
  }

  /** The decoded answer. Throws KubeError. */
  async request<T>(request: ApiRequest): Promise<T> {
    const giveUpAt = performance.now() + this.#retryBudgetMs;
    for (let attempt = 0; ; attempt++) {
      const left = Math.ceil(giveUpAt - performance.now());
      const outcome = await this.#attempt(request, Math.max(1_000, Math.min(this.#timeoutMs, left)));
      if ("value" in outcome) return outcome.value as T;
      const delay = outcome.retryAfterMs ?? backoff(attempt);
      if (request.once || !outcome.retry || performance.now() + delay >= giveUpAt) throw outcome.error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  /** As `request`, with 404 as `undefined`. */
  async find<T>(request: ApiRequest): Promise<T | undefined> {
    try {
      return await this.request<T>(request);
    } catch (error) {
      if (error instanceof KubeError && error.reason === "NotFound") return undefined;
      throw error;
    }
  }

  async #attempt(request: ApiRequest, timeoutMs: number): Promise<Outcome> {
    let answer: Answer;
    try {
      answer = await this.#send(request, timeoutMs);
    } catch (error) {
      return this.#networkOutcome(request, error as Error, timeoutMs);
    }
    this.serverTime = Date.parse(answer.headers.date ?? "") || undefined;
    if (answer.status < 200 || answer.status > 299) return this.#statusOutcome(request, answer);
    try {
      return { value: answer.text ? JSON.parse(answer.text) : undefined };
    } catch {
      return { error: this.#error(request, "Other", "the answer is not JSON", answer.status), retry: false };
    }
  }

  #networkOutcome(request: ApiRequest, error: Error, timeoutMs: number): Outcome {
    if (error.name === "TimeoutError" || error.name === "AbortError") {
      return { error: this.#error(request, "Timeout", `no answer within ${timeoutMs} ms`), retry: true };
    }
    return { error: this.#error(request, "Unreachable", describeNetworkError(error)), retry: isTransient(error) };
  }

  #statusOutcome(request: ApiRequest, answer: Answer): Outcome {
    const { status, headers, text } = answer;
    const message = serverMessage(text);
    const malformed = status === 500 && malformedPatch.test(message);
    const seconds = Number(headers["retry-after"]);
    const wait =
      headers["retry-after"] !== undefined && Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {};
    return {
      error: this.#error(
        request,
        malformed ? "Invalid" : reasonOfStatus(status),
        redact(message, request.body),
        status,
      ),
      retry: !malformed && (request.retryOn ?? [429, 500, 503, 504]).includes(status),
      ...wait,
    };
  }

  #error(request: ApiRequest, reason: KubeError["reason"], detail: string, status?: number): KubeError {
    const { verb, object } = request;
    return new KubeError({ reason, server: this.server, verb, object, status, detail });
  }

  async #send(request: ApiRequest, timeoutMs: number): Promise<Answer> {
    const url = new URL(this.server + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
    const options: RequestOptions = { method: request.method, signal: AbortSignal.timeout(timeoutMs) };
    await this.#config.applyToHTTPSOptions(options);
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    options.headers = {
      ...(options.headers as Record<string, string>),
      accept: "application/json",
      "user-agent": "pulumi-etcd",
      ...(body && { "content-type": request.contentType ?? "application/json", "content-length": body.length }),
    };
    return exchange(url, options, body);
  }
}

function exchange(url: URL, options: RequestOptions, body: Buffer | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const outgoing = send(url, options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** `message` of the Status object that the API server answers with; else the start of whatever it said. */
function serverMessage(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: string };
    if (message) return message;
  } catch {
    // Proxies and load balancers answer in HTML or plain text.
  }
  return text.trim().slice(0, 300) || "no message";
}

/** 0.2 s, 0.4 s, ... 3 s at most, each shortened by chance so that clients do not march in step. */
function backoff(attempt: number): number {
  return Math.min(3_000, 200 * 2 ** attempt) * (0.75 + Math.random() / 4);
}
