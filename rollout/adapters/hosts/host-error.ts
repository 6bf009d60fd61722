export type HostReason =
  /** The SSH server was not reached, or the connection broke off. */
  | "Unreachable"
  /** The host shows another key than the config or known_hosts have, or is in neither. */
  | "HostKey"
  /** The user is not let in, or there is no key to show. */
  | "Authentication"
  /** A command on the host failed. */
  | "Command"
  /** An object has changed since it was read. */
  | "Conflict";

/** A host could not be asked or changed. Never carries what was sent to it: that may hold private keys. */
export class HostError extends Error {
  override readonly name = "HostError";

  constructor(
    readonly reason: HostReason,
    /** The member's name. */
    readonly host: string,
    detail: string,
  ) {
    super(`${host}: ${detail}`);
  }
}
