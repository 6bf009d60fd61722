import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import type { ClientCredentials } from "../ports";
import { TransportError } from "./transport";

/** How an attempt to speak with a port came out, when it did not come out well. */
export type Failure =
  /** The peer said no: a TLS alert, or words of another protocol. */
  | { kind: "refused"; why: string }
  /** The peer ended the connection without a word. */
  | { kind: "closed"; why: string }
  /** The peer was not reached, or said nothing in time. */
  | { kind: "unreachable"; why: string };

export type Handshake = { kind: "done"; socket: TLSSocket } | Failure;

/**
 * TLS over a connection, without insisting on the server's certificate: `authorized` and `authorizationError` of the
 * socket say whether the trust bundle and the name would have had it.
 *
 * Under TLS 1.3 the client's side is done before the server has looked at the client's certificate: a refusal comes as
 * an error on the first read.
 *
 * @throws the error of OpenSSL where the credentials are no certificate and key.
 */
export function handshake(
  connection: Duplex,
  host: string,
  credentials: ClientCredentials | undefined,
  signal: AbortSignal,
): Promise<Handshake> {
  // What happened before anyone listened is not told again.
  if (connection.destroyed) return Promise.resolve(failureOf(connection.errored, signal));
  const socket = connect({
    socket: connection,
    servername: host,
    ca: credentials?.caBundle,
    cert: credentials?.certificate,
    key: credentials?.key,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
  });
  return new Promise((resolve) => {
    const settle = (result: Handshake) => {
      if (result.kind !== "done") socket.destroy();
      resolve(result);
    };
    const lost = (error?: Error) => settle(failureOf(connection.errored ?? error, signal));
    socket.on("error", lost);
    socket.on("close", () => lost());
    connection.on("error", lost);
    signal.addEventListener("abort", () => lost(), { once: true });
    socket.on("secureConnect", () => settle({ kind: "done", socket }));
  });
}

/** What an error on a connection says about the peer. No error: the peer closed. */
export function failureOf(error: Error | null | undefined, signal: AbortSignal): Failure {
  const { code = "", message = "the connection was closed" } = (error ?? {}) as { code?: string; message?: string };
  if (error instanceof TransportError) return { kind: "unreachable", why: message };
  if (signal.aborted) return { kind: "unreachable", why: "no answer in time" };
  // ERR_SSL_*, EPROTO: an alert, or bytes that are no TLS. HPE_*: bytes that are no HTTP.
  if (/^(ERR_SSL_|EPROTO|HPE_)/.test(code)) return { kind: "refused", why: message };
  return { kind: "closed", why: message };
}
