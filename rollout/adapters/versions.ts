import type { CallOptions, Client, Metadata } from "@grpc/grpc-js";
import type { Etcd3 } from "etcd3";
import type { MemberVersions, PodAddress } from "../ports";
import { metricsOf } from "./metrics";
import { decode, encode, type Field } from "./protobuf";
import type { Transport } from "./transport";

/** Numbers of the fields of etcd's StatusResponse and DowngradeInfo; the client library knows the older ones only. */
const STATUS = { version: 2, storageVersion: 11, downgradeInfo: 13 };
const DOWNGRADE_INFO = { enabled: 1, targetVersion: 2 };

/** DowngradeRequest: an action, and the minor release to go to. */
const DOWNGRADE = { action: 1, version: 2 };
const ACTIONS = { enable: 1, cancel: 2 };

/** What a member's Status says of versions. */
export type StatusVersions = Pick<MemberVersions, "server" | "storage" | "downgradeTo">;

export async function statusVersions(client: Etcd3, options: CallOptions): Promise<StatusVersions> {
  const status = decode(await call(client, "Status", Buffer.alloc(0), options));
  const info = status.get(STATUS.downgradeInfo);
  const downgrade = info instanceof Buffer ? decode(info) : undefined;
  const enabled = downgrade !== undefined && Number(downgrade.get(DOWNGRADE_INFO.enabled) ?? 0) === 1;
  const storage = text(status.get(STATUS.storageVersion));
  return {
    server: text(status.get(STATUS.version)),
    ...(storage !== "" && { storage }),
    ...(enabled && { downgradeTo: text(downgrade.get(DOWNGRADE_INFO.targetVersion)) }),
  };
}

/** `version`: the minor release to go to; absent: what was enabled is cancelled. */
export async function setDowngrade(client: Etcd3, version: string | undefined, options: CallOptions): Promise<void> {
  const request =
    version === undefined ? cancel() : { [DOWNGRADE.action]: ACTIONS.enable, [DOWNGRADE.version]: version };
  await call(client, "Downgrade", encode(request), options);
}

function cancel() {
  return { [DOWNGRADE.action]: ACTIONS.cancel };
}

const CLUSTER_VERSION = /^etcd_cluster_version\{cluster_version="([\d.]+)"\} 1$/m;
const SNAPSHOTS = /^etcd_snap_fsync_duration_seconds_count (\d+)$/m;

/** What a member's metrics say of versions. An older etcd's Status has no word of the cluster's. */
export async function metricsVersions(
  transport: Transport,
  pod: PodAddress,
  deadlineMs: number,
): Promise<Pick<MemberVersions, "cluster" | "snapshots">> {
  const metrics = await metricsOf(transport, pod, "versions", deadlineMs);
  const cluster = CLUSTER_VERSION.exec(metrics)?.[1];
  return { ...(cluster !== undefined && { cluster }), snapshots: Number(SNAPSHOTS.exec(metrics)?.[1] ?? 0) };
}

function text(field: Field | undefined): string {
  return field instanceof Buffer ? field.toString() : "";
}

interface Connection {
  client: Client;
  metadata: Metadata;
}

/** The client library's connections, which it shares with its own calls. */
interface Pool {
  withConnection<T>(service: "Maintenance", run: (connection: Connection) => Promise<T>): Promise<T>;
}

/** A call of etcd's Maintenance service with messages as bytes. */
function call(client: Etcd3, method: string, request: Buffer, options: CallOptions): Promise<Buffer> {
  const { client: pool } = client.maintenance as unknown as { client: Pool };
  const same = (bytes: Buffer) => bytes;
  return pool.withConnection(
    "Maintenance",
    (connection) =>
      new Promise((resolve, reject) => {
        const path = `/etcdserverpb.Maintenance/${method}`;
        connection.client.makeUnaryRequest(path, same, same, request, connection.metadata, options, (error, answer) =>
          error ? reject(error) : resolve(answer ?? Buffer.alloc(0)),
        );
      }),
  );
}
