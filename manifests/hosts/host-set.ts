import { createHash } from "node:crypto";
import { memberName } from "../../config/names";
import {
  CLIENT_STAGE,
  OWNER,
  PEER_STAGE,
  RESTART_TOKEN,
  TEMPLATE_HASH,
  TLS_SETTINGS,
  TRUST_REVISION,
} from "../annotations";
import { memberTls } from "../member-tls";
import type { KubeObject, MemberSpec, MemberTemplate, WorkloadOptions } from "../types";
import { renderUnit } from "./unit";

/** The workload of members on hosts: what a StatefulSet is in Kubernetes. */
export interface HostSet extends KubeObject {
  kind: "HostSet";
  spec: {
    replicas: number;
    template: {
      metadata: { annotations: Record<string, string> };
      /** The service file of every member, by its name. */
      units: Record<string, string>;
    };
  };
}

/** The members of a spec with hosts on a stage: a service file for each, marked with the hash over all of them. */
export function renderHostSet(spec: MemberSpec, template: MemberTemplate, options: WorkloadOptions): HostSet {
  const unsigned = templateAnnotations(spec, template);
  const hash = createHash("sha256")
    .update(JSON.stringify(unitsOf(spec, template, unsigned)))
    .digest("hex")
    .slice(0, 16);
  const annotations = { ...unsigned, [TEMPLATE_HASH]: hash };
  return {
    apiVersion: "pulumi-etcd/v1",
    kind: "HostSet",
    metadata: { name: spec.name, namespace: spec.namespace, annotations: recordOf(spec, template, options) },
    spec: {
      replicas: spec.replicas,
      template: { metadata: { annotations }, units: unitsOf(spec, template, annotations) },
    },
  };
}

function unitsOf(spec: MemberSpec, { stage, trustRevision }: MemberTemplate, annotations: Record<string, string>) {
  const options = { stage, annotations, ...(trustRevision && { trustRevision }) };
  const ordinals = Array.from({ length: spec.replicas }, (_, ordinal) => ordinal);
  return Object.fromEntries(ordinals.map((i) => [memberName(spec, i), renderUnit(spec, i, options)]));
}

function templateAnnotations({ restartToken }: MemberSpec, { stage, trustRevision }: MemberTemplate) {
  return {
    [PEER_STAGE]: stage.peer,
    [CLIENT_STAGE]: stage.client,
    ...(trustRevision !== undefined && { [TRUST_REVISION]: trustRevision }),
    ...(restartToken !== undefined && { [RESTART_TOKEN]: restartToken }),
  };
}

function recordOf(
  spec: MemberSpec,
  { stage }: MemberTemplate,
  { owner, formerTls }: WorkloadOptions,
): Record<string, string> {
  const tls = stage.peer === "plain" && stage.client === "plain" ? formerTls : spec.tls;
  return {
    ...(tls && { [TLS_SETTINGS]: JSON.stringify(memberTls(tls)) }),
    ...(owner !== undefined && { [OWNER]: owner }),
  };
}
