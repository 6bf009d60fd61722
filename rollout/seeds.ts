import { certificateName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import { labels } from "../manifests";
import type { MemberTls } from "../manifests/types";
import { chainFault } from "./chain";
import { startedBundles } from "./leaf-guard";
import { MADE_FOR, writeLeaf } from "./leaf-secret";
import { releaseSecret } from "./mounts";
import type { Observation } from "./observe";
import type { Ports, Right } from "./ports";
import { Refusal } from "./problems";
import { missingRightsProblem } from "./rights";

/** The Secrets of the spec that the members do not mount yet, with those that they mount in their place. */
export function movedSecrets(spec: EtcdSpec, mounted: MemberTls | undefined) {
  return (spec.tls?.certificates ?? []).flatMap(({ alias, secretName }) => {
    const from = mounted?.certificates.find((each) => each.alias === alias)?.secretName;
    return from === undefined || from === secretName ? [] : [{ alias, from, secretName }];
  });
}

/**
 * Whether the members may be brought to the Secrets of the spec before these hold what they are for: none of them
 * holds a leaf that some member does not trust yet, or will not trust with `bundle`, as after a way back that began
 * late. Such a leaf is not overwritten either: cert-manager would take its Secret back. The members then stay where they
 * are until all of them trust what comes into the Secrets.
 */
export async function canSeed(ports: Ports, spec: EtcdSpec, observation: Observation, bundle: string) {
  const moved = movedSecrets(spec, observation.liveTls);
  const bundles = [bundle, ...(await startedBundles(ports, spec, observation))];
  const leaves = await Promise.all(
    moved.map(({ secretName }) => ports.kube.secretMaterial(spec.namespace, secretName)),
  );
  const terms = { now: ports.clock.now(), purposes: [] };
  return leaves.every((leaf) => !leaf || bundles.every((each) => !chainFault(leaf.certificate, each, terms)));
}

/**
 * Puts the leaf that is served now under the name that the spec wants it to have, so that the pass that widens the
 * trust moves the members there as well: the new leaf then comes into a Secret that every member mounts already, and
 * takes no restart of its own. Secrets that are there are left alone.
 */
export async function seedSecrets(ports: Ports, spec: EtcdSpec, mounted: MemberTls | undefined): Promise<void> {
  for (const { alias, from, secretName } of movedSecrets(spec, mounted)) {
    if (await ports.kube.secretMaterial(spec.namespace, secretName)) continue;
    const material = await ports.kube.secretMaterial(spec.namespace, from);
    if (!material) continue;
    await writeLeaf(ports, spec, { secretName, madeFor: certificateName(spec, alias), material }, "seed");
  }
}

/**
 * Deletes what nothing grew from: an update that was killed after it had seeded Secrets, and a config that was put back
 * or changed again. Whoever writes a certificate into a seed changes its label, and answers for it from then on.
 */
export async function sweepSeeds(ports: Ports, spec: EtcdSpec): Promise<void> {
  // On hosts there are no seeds: certificates are files that are written where they belong.
  if (spec.hosts) return;
  const { namespace } = spec;
  const wanted = new Set((spec.tls?.certificates ?? []).map(({ secretName }) => secretName));
  const selector = Object.entries(labels(spec, "seed")).map(([label, value]) => `${label}=${value}`);
  for (const { metadata } of await ports.kube.list("v1", "Secret", namespace, selector.join(","))) {
    const madeFor = metadata.annotations?.[MADE_FOR];
    if (wanted.has(metadata.name) || madeFor === undefined) continue;
    await releaseSecret(ports, { namespace, secretName: metadata.name, certificateName: madeFor });
  }
}

/** Throws `Refusal` where the Secrets may not be written. */
export async function demandSeedRights(ports: Ports, { namespace }: EtcdSpec): Promise<void> {
  const rights: Right[] = ["create", "patch"].map((verb) => ({ group: "", resource: "secrets", verb, namespace }));
  const problem = missingRightsProblem(namespace, await ports.kube.missingRights(rights));
  if (problem) throw new Refusal([problem]);
}
