import type { CallOptions } from "@grpc/grpc-js";
import { AlarmAction, type Etcd3 } from "etcd3";
import { CLIENT_PORT } from "../../config/names";
import type {
  Authentication,
  ClientCredentials,
  EtcdPort,
  Member,
  MemberAddress,
  MemberStatus,
  MemberVersions,
  PodAddress,
  Vitals,
} from "../ports";
import { callMember } from "./etcd-client";
import { EtcdError } from "./etcd-error";
import { isDenial, Tokens } from "./etcd-tokens";
import { identity, vitals } from "./identity";
import { probeMember } from "./probe";
import { servedCertificate } from "./served-certificate";
import type { Transport } from "./transport";
import { metricsVersions, setDowngrade, statusVersions } from "./versions";

export interface EtcdAdapterOptions {
  /** Client port of the members. Default 2379. */
  clientPort?: number;
}

/** Key that the linearizable read asks for; it is never written. */
const readKey = "pulumi-etcd/linearizable-read";

/**
 * etcd through its gRPC API: each call goes to the one member named, verifies the member's certificate against its
 * FQDN where the scheme is https, is made once, and ends by its deadline. All failures are `EtcdError`.
 */
export class EtcdAdapter implements EtcdPort {
  readonly #transport: Transport;
  readonly #port: number;
  readonly #tokens = new Tokens();

  constructor(transport: Transport, options: EtcdAdapterOptions = {}) {
    this.#transport = transport;
    this.#port = options.clientPort ?? CLIENT_PORT;
  }

  /** `leader` is `0` where the member knows of none. */
  status(member: MemberAddress, deadlineMs: number): Promise<MemberStatus> {
    return this.#call(member, "status", deadlineMs, async (client, options) => {
      const answer = await client.maintenance.status(options);
      return {
        id: hex(answer.header.member_id),
        leader: hex(answer.leader),
        term: BigInt(answer.raftTerm),
        raftIndex: BigInt(answer.raftIndex),
        appliedIndex: BigInt(answer.raftAppliedIndex),
        isLearner: answer.isLearner,
        version: answer.version,
        errors: answer.errors,
      };
    });
  }

  /** Linearizable: the list that a quorum has agreed on. Fails where there is no quorum. */
  memberList(member: MemberAddress, deadlineMs: number): Promise<Member[]> {
    return this.#call(member, "memberList", deadlineMs, async (client, options) => {
      const answer = await client.cluster.memberList({ linearizable: true }, options);
      return answer.members.map(({ ID, name, peerURLs, clientURLs, isLearner }) => ({
        id: hex(ID),
        name,
        peerUrls: peerURLs,
        clientUrls: clientURLs,
        isLearner,
      }));
    });
  }

  updatePeerUrls(member: MemberAddress, id: string, peerUrls: string[], deadlineMs: number): Promise<void> {
    return this.#call(member, "updatePeerUrls", deadlineMs, async (client, options) => {
      await client.cluster.memberUpdate({ ID: decimal(id), peerURLs: peerUrls }, options);
    });
  }

  moveLeader(leader: MemberAddress, transfereeId: string, deadlineMs: number): Promise<void> {
    return this.#call(leader, "moveLeader", deadlineMs, async (client, options) => {
      await client.maintenance.moveLeader({ targetID: decimal(transfereeId) }, options);
    });
  }

  async versions(member: MemberAddress, deadlineMs: number): Promise<MemberVersions> {
    const [status, metrics] = await Promise.all([
      this.#call(member, "versions", deadlineMs, statusVersions),
      metricsVersions(this.#transport, member, deadlineMs),
    ]);
    return { ...status, ...metrics };
  }

  setDowngrade(member: MemberAddress, minor: string | undefined, deadlineMs: number): Promise<void> {
    return this.#call(member, "downgrade", deadlineMs, (client, options) => setDowngrade(client, minor, options));
  }

  alarms(member: MemberAddress, deadlineMs: number): Promise<string[]> {
    return this.#call(member, "alarms", deadlineMs, async (client, options) => {
      const answer = await client.maintenance.alarm({ action: AlarmAction.Get }, options);
      // One alarm may be raised by several members. The library spells it otherwise than etcd and etcdctl do.
      return [...new Set(answer.alarms.map(({ alarm }) => String(alarm).toUpperCase()))];
    });
  }

  /**
   * Asks for the state of the authentication. Where it is on, etcd before 3.7 tells that to the role root alone, and
   * every etcd tells the role root alone which roles there are.
   */
  async authentication(member: MemberAddress, deadlineMs: number): Promise<Authentication> {
    try {
      const ask = this.#call(member, "authentication", deadlineMs, async (client, options) => {
        const { enabled: on } = await client.auth.authStatus(options);
        if (on) await client.auth.roleList(options);
        return { on };
      });
      return await ask;
    } catch (error) {
      if (error instanceof EtcdError && isDenial(error.detail)) return { on: true, denied: error.detail };
      throw error;
    }
  }

  linearizableRead(member: MemberAddress, deadlineMs: number): Promise<void> {
    return this.#call(member, "linearizableRead", deadlineMs, async (client, options) => {
      await client.get(readKey).options(options);
    });
  }

  /** See `probeMember` for what each answer is concluded from. */
  probe(member: MemberAddress, deadlineMs: number): Promise<"accepted" | "refused" | "unreachable"> {
    return probeMember(this.#transport, member, this.#port, deadlineMs);
  }

  identity(pod: PodAddress, deadlineMs: number): Promise<string> {
    return identity(this.#transport, pod, deadlineMs);
  }

  vitals(pod: PodAddress, deadlineMs: number): Promise<Vitals> {
    return vitals(this.#transport, pod, deadlineMs);
  }

  servedCertificate(
    pod: PodAddress,
    port: number,
    credentials: ClientCredentials | undefined,
    deadlineMs: number,
  ): Promise<string> {
    return servedCertificate(this.#transport, pod, port, credentials, deadlineMs);
  }

  #call<T>(
    member: MemberAddress,
    name: string,
    deadlineMs: number,
    run: (client: Etcd3, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    return callMember(this.#transport, member, name, deadlineMs, this.#port, (client, deadline) =>
      this.#tokens.use(client, member, deadline, (options) => run(client, options)),
    );
  }
}

function hex(decimalId: string): string {
  return BigInt(decimalId).toString(16);
}

function decimal(hexId: string): string {
  return BigInt(`0x${hexId}`).toString();
}
