import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import type { KubeObject } from "../manifests";

/** A rendered object as the Pulumi resource of its kind; custom resources where Kubernetes itself has no such kind. */
export function kubernetesResource(
  name: string,
  object: KubeObject,
  opts: pulumi.CustomResourceOptions,
): pulumi.CustomResource {
  // The manifests are plain JSON of the very shape that these classes take.
  // biome-ignore lint/suspicious/noExplicitAny: one object for the arguments of several kinds
  const args = object as any;
  switch (`${object.apiVersion}/${object.kind}`) {
    case "v1/Service":
      return new k8s.core.v1.Service(name, args, opts);
    case "apps/v1/StatefulSet":
      return new k8s.apps.v1.StatefulSet(name, args, opts);
    case "policy/v1/PodDisruptionBudget":
      return new k8s.policy.v1.PodDisruptionBudget(name, args, opts);
    default:
      return new k8s.apiextensions.CustomResource(name, object, opts);
  }
}
