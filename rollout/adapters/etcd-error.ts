export interface EtcdErrorDetails {
  /** Pod that was asked. */
  member: string;
  /** The call, such as `memberList`. */
  call: string;
  /** gRPC status in words, such as `UNAVAILABLE`; `UNKNOWN` where there was none. */
  code: string;
  /** What etcd, gRPC or the way to the pod said. */
  detail: string;
  deadlineMs: number;
}

/** A call to a member that failed. Its message names the member, the call, the gRPC status and the deadline. */
export class EtcdError extends Error {
  override readonly name = "EtcdError";
  readonly member: string;
  readonly call: string;
  readonly code: string;
  /** What etcd, gRPC or the way to the pod said. */
  readonly detail: string;
  readonly deadlineMs: number;

  constructor({ member, call, code, detail, deadlineMs }: EtcdErrorDetails, options?: ErrorOptions) {
    super(`etcd member ${member}: ${call}: ${code}: ${detail.trim()} (deadline ${deadlineMs} ms)`, options);
    this.member = member;
    this.call = call;
    this.code = code;
    this.detail = detail.trim();
    this.deadlineMs = deadlineMs;
  }
}
