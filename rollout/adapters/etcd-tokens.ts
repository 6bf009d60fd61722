import { createHash } from "node:crypto";
import { type CallOptions, InterceptingCall, type Interceptor } from "@grpc/grpc-js";
import type { Etcd3 } from "etcd3";
import type { EtcdUser, MemberAddress } from "../ports";

/** etcd's answers to somebody who has not the right to what was asked. */
const DENIALS = [
  "user name is empty",
  "permission denied",
  "authentication failed, invalid user ID or password",
  "user name not found",
];

/** Whether etcd's words say that its authentication stands in the way. */
export function isDenial(detail: string): boolean {
  return DENIALS.some((words) => detail.includes(`etcdserver: ${words}`));
}

/**
 * What a token, or calling without one, is told when it does not hold any more: the member was restarted, the token ran
 * out after five minutes, users or roles were changed, or authentication was switched on.
 */
const OUTDATED = ["invalid auth token", "revision of auth store is old", "user name is empty"];

/**
 * The tokens that members have given in exchange for a password.
 *
 * Each is kept: giving one costs a member a tenth of a second of computing and a round of consensus, and the gate asks
 * several times a second. A member knows only tokens that were given while it ran, so there is one a member; a token
 * that does not hold any more is replaced, once a call.
 *
 * A token comes before the certificate: etcd takes the user of the token, whatever the certificate is called.
 *
 * The client library's own `auth` is not used: it asks for the token over a connection of its own, which knows nothing
 * of the member's name.
 */
export class Tokens {
  /** Absent: not asked for yet. Empty: authentication is off. */
  readonly #known = new Map<string, string>();

  /** Runs a call as the member address's user; without one, as nobody. */
  async use<T>(
    client: Etcd3,
    { host, user }: Pick<MemberAddress, "host" | "user">,
    deadline: number,
    run: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    if (!user) return run({ deadline });
    const key = keyOf(host, user);
    const known = this.#known.get(key);
    if (known !== undefined) {
      try {
        return await run(withToken(known, deadline));
      } catch (error) {
        if (!OUTDATED.some((words) => (error as Error).message.includes(words))) throw error;
      }
    }
    this.#known.delete(key);
    const token = await authenticate(client, user, deadline);
    this.#known.set(key, token);
    return run(withToken(token, deadline));
  }
}

/** Not the password itself: what is kept for long may end in a dump. */
function keyOf(host: string, { name, password }: EtcdUser): string {
  return JSON.stringify([host, name, createHash("sha256").update(password).digest("hex")]);
}

/** The token for a user; empty where authentication is off. */
async function authenticate(client: Etcd3, { name, password }: EtcdUser, deadline: number): Promise<string> {
  try {
    return (await client.auth.authenticate({ name, password }, { deadline })).token;
  } catch (error) {
    if ((error as Error).message.includes("authentication is not enabled")) return "";
    throw error;
  }
}

function withToken(token: string, deadline: number): CallOptions {
  if (token === "") return { deadline };
  const bearer: Interceptor = (options, next) =>
    new InterceptingCall(next(options), {
      start: (metadata, listener, start) => {
        metadata.set("token", token);
        start(metadata, listener);
      },
    });
  return { deadline, interceptors: [bearer] };
}
