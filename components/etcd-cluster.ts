import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { ConfigError, describeProblem, parseSpec } from "../config";
import type { EtcdSpec } from "../config/types";
import {
  finalStage,
  type KubeObject,
  renderDisruptionBudget,
  renderNamespace,
  renderServices,
  renderWorkload,
} from "../manifests";
import { declareTls } from "./certificates";
import { Membership, Rollout } from "./dynamic";
import { kubernetesResource } from "./kubernetes-resource";
import { type LastOperation, lastOperation, owner } from "./rollout-outputs";
import { onlyAfterWalk, workloadArgs } from "./workload";

/** The keys of the stack config, documented in `config/schema.json`; every one has a default. */
export type EtcdClusterArgs = Record<string, unknown>;

/** Namespace and name of the clusters that this program has declared. */
const declared = new Set<string>();

/**
 * An etcd cluster on Kubernetes, whose TLS changes in place.
 *
 * Its children, top to bottom, are the plan of an update: the trust bundle is widened, certificates are issued, the
 * members are walked to the new template, and only then the workload object confirms what is live already.
 */
export class EtcdCluster extends pulumi.ComponentResource {
  /** Client URLs: the Service first, then every member. */
  readonly endpoints: pulumi.Output<string[]>;
  /** The raft members, with the URLs that they are registered under. */
  readonly members: pulumi.Output<{ name: string; id: string; peerUrls: string[]; clientUrls: string[] }[]>;
  /** Secret with a client certificate for the user root; empty on a plain cluster. */
  readonly clientSecretName: pulumi.Output<string>;
  /** CA certificates that clients should trust, PEM; empty on a plain cluster. */
  readonly caBundle: pulumi.Output<string>;
  /** Progress of the last operation in KubeDB's condition types. */
  readonly conditions: pulumi.Output<unknown[]>;
  readonly lastOperation: pulumi.Output<LastOperation>;

  /**
   * @param args the stack config's keys; see `config/schema.json`.
   * @throws RunError naming every key that is not right, before any resource is declared.
   */
  constructor(name: string, args: EtcdClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("etcd:index:EtcdCluster", name, {}, opts);
    const { spec, protect } = this.readSpec(args);
    const prerequisites = this.declareSurroundings(name, spec, protect);
    const { bundle, certificates, ca, leaves } = declareTls(name, spec, owner(), this, prerequisites);
    const rollout = new Rollout(
      name,
      {
        spec,
        owner: owner(),
        ...(bundle && { settled: bundle.settled }),
        ...(ca && { ca }),
        ...(leaves && { leaves }),
      },
      { parent: this, dependsOn: [...prerequisites, ...certificates] },
    );
    const workload = this.declareWorkload(spec, rollout, protect);
    const membership = new Membership(
      name,
      { spec, rolloutCompletedAt: rollout.completedAt },
      { parent: this, dependsOn: [workload] },
    );
    this.endpoints = membership.endpoints;
    this.members = membership.members;
    this.clientSecretName = membership.clientSecretName;
    this.caBundle = membership.caBundle;
    this.conditions = rollout.conditions;
    this.lastOperation = lastOperation(rollout);
    this.registerOutputs({
      endpoints: this.endpoints,
      members: this.members,
      clientSecretName: this.clientSecretName,
      conditions: this.conditions,
    });
  }

  private readSpec(args: EtcdClusterArgs): { spec: EtcdSpec; protect: boolean } {
    const { spec, protect, warnings } = parse(args);
    for (const warning of warnings) pulumi.log.warn(describeProblem(warning), this);
    const key = `${spec.namespace}/${spec.name}`;
    if (declared.has(key)) {
      throw new pulumi.RunError(
        `etcd:name = "${spec.name}": this program declares two clusters of that name in namespace ${spec.namespace}. Give one another name or namespace`,
      );
    }
    declared.add(key);
    return { spec, protect };
  }

  /** What the members need around them: namespace, Services, PodDisruptionBudget. */
  private declareSurroundings(name: string, spec: EtcdSpec, protect: boolean): pulumi.Resource[] {
    const namespace = spec.createNamespace
      ? [new k8s.core.v1.Namespace(name, renderNamespace(spec) as object, { parent: this, ...protection(protect) })]
      : [];
    const objects = [...renderServices(spec), renderDisruptionBudget(spec)].map((object) =>
      this.declareObject(object, namespace),
    );
    return [...namespace, ...objects];
  }

  private declareWorkload(spec: EtcdSpec, rollout: Rollout, protect: boolean): pulumi.Resource {
    const render = (trustRevision: string | undefined) =>
      renderWorkload(spec, { stage: finalStage(spec), ...(trustRevision && { trustRevision }) }, { owner: owner() });
    const object = workloadArgs(render, spec.tls ? rollout.trustRevision : undefined);
    return this.declareObject(onlyAfterWalk(object, rollout.spec, spec), [rollout], protection(protect));
  }

  /** The Pulumi name is the object's own: it says in preview which object a row is. */
  private declareObject(
    object: KubeObject,
    dependsOn: pulumi.Resource[],
    opts: pulumi.CustomResourceOptions = {},
  ): pulumi.Resource {
    return kubernetesResource(object.metadata.name, object, { parent: this, dependsOn, ...opts });
  }
}

/** Left out rather than false, so that a component that is protected as a whole protects its children. */
function protection(protect: boolean): pulumi.CustomResourceOptions {
  return protect ? { protect } : {};
}

function parse(args: EtcdClusterArgs) {
  try {
    return parseSpec(args);
  } catch (error) {
    // A stack trace says nothing to somebody whose config has a typing error.
    throw error instanceof ConfigError ? new pulumi.RunError(error.message) : error;
  }
}
