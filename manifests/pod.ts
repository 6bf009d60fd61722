import { CLIENT_PORT, METRICS_PORT, PEER_PORT } from "../config/names";
import { CLIENT_STAGE, PEER_STAGE, RESTART_TOKEN, TRUST_REVISION } from "./annotations";
import { flags } from "./flags";
import { labels, memberSelector } from "./labels";
import { podPlace } from "./place";
import type { MemberSpec, MemberTemplate } from "./types";
import { volumeMounts, volumes } from "./volumes";

/** Any user but root will do; the image brings none of its own. */
const USER = 10001;

/** Long enough for open watches to end (some seconds) and for etcd to hand over what it still leads. */
const TERMINATION_SECONDS = 60;

/** Template of a member's pod: everything in which two stages differ is in here. */
export function podTemplate(spec: MemberSpec, template: MemberTemplate) {
  return {
    metadata: { labels: labels(spec, "member"), annotations: annotations(spec, template) },
    spec: {
      automountServiceAccountToken: false,
      // A Service named etcd would set ETCD_PORT, which etcd would take for a flag.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: TERMINATION_SECONDS,
      securityContext: podSecurity(),
      affinity: { podAntiAffinity: apart(spec) },
      containers: [container(spec, template)],
      volumes: volumes(spec, template),
    },
  };
}

function annotations({ restartToken }: MemberSpec, { stage, trustRevision }: MemberTemplate) {
  return {
    [PEER_STAGE]: stage.peer,
    [CLIENT_STAGE]: stage.client,
    [TRUST_REVISION]: trustRevision,
    [RESTART_TOKEN]: restartToken,
  };
}

function podSecurity() {
  return {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    // Not at every start through a database of gigabytes.
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" },
  };
}

/** Members on nodes of their own where there are enough. */
function apart(spec: MemberSpec) {
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: memberSelector(spec) } };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] };
}

function container(spec: MemberSpec, template: MemberTemplate) {
  return {
    name: "etcd",
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy,
    command: ["/usr/local/bin/etcd"],
    args: flags(spec, template.stage, podPlace(spec)),
    // What etcd logged last before it ended is then in the pod's status, and in what an update says of it.
    terminationMessagePolicy: "FallbackToLogsOnError",
    env: [podName(), ...spec.extraEnv],
    ports: [port("client", CLIENT_PORT), port("peer", PEER_PORT), port("metrics", METRICS_PORT)],
    resources: resources(spec),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: volumeMounts(spec, template),
    ...probes(),
  };
}

function resources({ resources: { requests, limits } }: MemberSpec) {
  const unlessEmpty = (amounts: Record<string, string>) => (Object.keys(amounts).length > 0 ? amounts : undefined);
  return { requests: unlessEmpty(requests), limits: unlessEmpty(limits) };
}

function podName() {
  return { name: "POD_NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } };
}

function port(name: string, containerPort: number) {
  return { name, containerPort, protocol: "TCP" };
}

/**
 * Startup and readiness ask whether the member serves (/readyz needs a leader), liveness only whether it lives.
 *
 * Half an hour to start: a member that waits for a lost quorum, or reads a large database, is not helped by restarts.
 */
function probes() {
  const probe = (path: string) => ({ httpGet: { path, port: "metrics", scheme: "HTTP" } });
  return {
    startupProbe: { ...probe("/readyz"), periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 1800 },
    readinessProbe: { ...probe("/readyz"), periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe("/livez"), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
  };
}
