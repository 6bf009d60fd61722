import { request } from "node:http";
import { performance } from "node:perf_hooks";
import type { Duplex } from "node:stream";
import type { MemberAddress } from "../ports";
import { EtcdError } from "./etcd-error";
import { type Failure, failureOf, handshake } from "./tls-handshake";
import { type Transport, TransportError } from "./transport";

type Outcome =
  /** etcd answered. `distrust`: why the client would not have had the member's certificate. */
  | { kind: "answered"; distrust?: string }
  /** TLS came up, then the peer ended the connection without a word. */
  | { kind: "dropped"; why: string }
  | Failure;

/**
 * Tries one way of talking to a member, with `GET /version`, which every client port answers without quorum and without
 * a user. Not with gRPC: its errors don't tell a refusal from a broken way.
 *
 * - `accepted`: etcd answered.
 * - `refused`: the member said no. A TLS alert, an HTTP error, or bytes of another protocol say so by themselves. A
 *   connection that just ends does not (the member may be stopping), so then the port must be seen to speak the
 *   **other** scheme, or to end a second connection after the same TLS handshake.
 * - `unreachable`: everything else: no such pod, nothing listens, no answer by the deadline. Give it 3 s or more: through
 *   a port-forward, that the pod ended a connection takes a second to arrive.
 *
 * @throws EtcdError with code `UNAUTHENTICATED` where the member would have accepted, but its certificate is not
 * one that the trust bundle and the member's name vouch for.
 */
export async function probeMember(
  transport: Transport,
  member: MemberAddress,
  port: number,
  deadlineMs: number,
): Promise<"accepted" | "refused" | "unreachable"> {
  const deadline = performance.now() + deadlineMs;
  const attempt = (scheme: MemberAddress["scheme"]) => tryScheme(transport, { ...member, scheme }, port, deadline);
  const fail = (code: string, detail: string) =>
    new EtcdError({ member: member.pod, call: "probe", code, detail, deadlineMs });
  let outcome: Outcome;
  try {
    outcome = await attempt(member.scheme);
    if (outcome.kind === "dropped") outcome = confirm(await attempt("https"), ["dropped", "refused"]);
    if (outcome.kind === "closed") {
      const seen: Outcome["kind"][] = member.scheme === "http" ? ["answered", "dropped", "refused"] : ["answered"];
      outcome = confirm(await attempt(member.scheme === "http" ? "https" : "http"), seen);
    }
  } catch (error) {
    throw fail("INVALID_ARGUMENT", (error as Error).message);
  }
  if (outcome.kind !== "answered") return outcome.kind === "refused" ? "refused" : "unreachable";
  if (outcome.distrust === undefined) return "accepted";
  throw fail("UNAUTHENTICATED", `its certificate is not trusted for ${member.host}: ${outcome.distrust}`);
}

function confirm(second: Outcome, evidence: Outcome["kind"][]): Failure {
  return evidence.includes(second.kind)
    ? { kind: "refused", why: "ended without a word, twice or in favour of the other scheme" }
    : { kind: "unreachable", why: "ended without a word" };
}

async function tryScheme(
  transport: Transport,
  member: MemberAddress,
  port: number,
  deadline: number,
): Promise<Outcome> {
  const left = Math.ceil(deadline - performance.now());
  if (left <= 0) return { kind: "unreachable", why: "no answer in time" };
  const signal = AbortSignal.timeout(left);
  let connection: Duplex;
  try {
    connection = await transport.connect(member, port, left);
  } catch (error) {
    if (error instanceof TransportError) return { kind: "unreachable", why: error.message };
    throw error;
  }
  try {
    if (member.scheme === "http") return await version(connection, connection, member.host, signal);
    const result = await handshake(connection, member.host, member.credentials, signal);
    if (result.kind !== "done") return result;
    const { socket } = result;
    const answer = await version(socket, connection, member.host, signal);
    if (answer.kind === "closed") return { ...answer, kind: "dropped" };
    if (answer.kind === "answered" && !socket.authorized)
      return { ...answer, distrust: `${socket.authorizationError}` };
    return answer;
  } finally {
    connection.destroy();
  }
}

/** @param below The connection that the stream runs over, whose error tells more than the stream's. */
function version(stream: Duplex, below: Duplex, host: string, signal: AbortSignal): Promise<Outcome> {
  if (below.destroyed) return Promise.resolve(failureOf(below.errored, signal));
  return new Promise((resolve) => {
    const lost = (error?: Error) => resolve(failureOf(below.errored ?? error, signal));
    signal.addEventListener("abort", () => lost(), { once: true });
    below.on("error", lost);
    const call = request({
      createConnection: () => stream,
      host,
      path: "/version",
      headers: { connection: "close" },
    });
    call.on("error", lost);
    call.on("response", (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on("error", lost);
      response.on("end", () => resolve(verdict(response.statusCode, body)));
    });
    call.end();
  });
}

function verdict(status: number | undefined, body: string): Outcome {
  if (status === 200 && body.includes("etcdserver")) return { kind: "answered" };
  return { kind: "refused", why: `HTTP ${status}: ${body.trim().slice(0, 200)}` };
}
