import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { CLIENT_PORT, clientServiceName, headlessServiceName, METRICS_PORT, PEER_PORT } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { labels, memberSelector } from "./labels";

/** They are made before there is a member: waiting for endpoints would wait for ever. */
const NO_AWAIT = { "pulumi.com/skipAwait": "true" };

const port = (name: string, number: number) => ({ name, port: number, protocol: "TCP", targetPort: name });

/** Where clients connect to: any member that is ready. */
export class ClientService extends ApiObject {
  constructor(scope: Construct, id: string, spec: EtcdSpec) {
    super(scope, id, {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata(spec, clientServiceName(spec)),
      spec: { type: "ClusterIP", selector: memberSelector(spec), ports: [port("client", CLIENT_PORT)] },
    });
  }
}

/**
 * Gives each member its DNS name.
 *
 * Publishes addresses that are not ready: a member becomes ready only once it has found its peers.
 */
export class HeadlessService extends ApiObject {
  constructor(scope: Construct, id: string, spec: EtcdSpec) {
    super(scope, id, {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata(spec, headlessServiceName(spec)),
      spec: {
        type: "ClusterIP",
        clusterIP: "None",
        publishNotReadyAddresses: true,
        selector: memberSelector(spec),
        ports: [port("client", CLIENT_PORT), port("peer", PEER_PORT), port("metrics", METRICS_PORT)],
      },
    });
  }
}

function metadata(spec: EtcdSpec, name: string) {
  return { name, namespace: spec.namespace, labels: labels(spec, "member"), annotations: NO_AWAIT };
}
