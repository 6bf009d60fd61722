import type * as pulumi from "@pulumi/pulumi";
import type { KubeObject } from "../manifests";

/**
 * An object for a program that fails, before any step for the object is planned, if `demand` throws at what another
 * resource has put out. `leaf`: a field of its spec that is always there and has no fields of its own, since what is below
 * an Output shows no differences.
 */
export function onlyIf<T>(
  object: KubeObject,
  leaf: string,
  found: pulumi.Output<T>,
  demand: (found: T) => void,
): KubeObject {
  const fields = object.spec as Record<string, unknown>;
  const value = found.apply((each) => {
    demand(each);
    return fields[leaf];
  });
  return { ...object, spec: { ...fields, [leaf]: value } };
}
