import { certificateName } from "../config/names";
import type { EtcdSpec } from "../config/types";
import type { MemberTls } from "../manifests/types";
import { writeLeaf } from "./leaf-secret";
import type { Ports, Right } from "./ports";
import { Refusal } from "./problems";
import { missingRightsProblem } from "./rights";
import { chainsTo } from "./x509";

/**
 * cert-manager takes over a Secret that names no issuer where its leaf is what its Certificate asks for, and issues
 * nothing (SecretIssuerAnnotationsMismatch of its trigger policies). One of another issuer it issues anew.
 */
const NOT_ISSUED = { "cert-manager.io/issuer-name": "none", "cert-manager.io/issuer-kind": "None" };

/** The Secrets of the spec that the members do not mount yet, with those that they mount in their place. */
export function movedSecrets(spec: EtcdSpec, mounted: MemberTls | undefined) {
  return (spec.tls?.certificates ?? []).flatMap(({ alias, secretName }) => {
    const from = mounted?.certificates.find((each) => each.alias === alias)?.secretName;
    return from === undefined || from === secretName ? [] : [{ alias, from, secretName }];
  });
}

/**
 * Puts the leaf that is served now under the name that the spec wants it to have, so that the pass that widens the
 * trust moves the members there as well: the new leaf then comes into a Secret that every member mounts already, and
 * takes no restart of its own. Secrets that hold a leaf which everybody trusts are left alone.
 */
export async function seedSecrets(ports: Ports, spec: EtcdSpec, mounted: MemberTls | undefined, bundle: string) {
  for (const { alias, from, secretName } of movedSecrets(spec, mounted)) {
    const there = await ports.kube.secretMaterial(spec.namespace, secretName);
    if (there && chainsTo(there.certificate, bundle)) continue;
    const material = await ports.kube.secretMaterial(spec.namespace, from);
    if (!material) continue;
    await writeLeaf(ports, spec, {
      secretName,
      madeFor: certificateName(spec, alias),
      material,
      annotations: NOT_ISSUED,
    });
  }
}

/** Throws `Refusal` where the Secrets may not be written. */
export async function demandSeedRights(ports: Ports, { namespace }: EtcdSpec): Promise<void> {
  const rights: Right[] = ["create", "patch"].map((verb) => ({ group: "", resource: "secrets", verb, namespace }));
  const problem = missingRightsProblem(namespace, await ports.kube.missingRights(rights));
  if (problem) throw new Refusal([problem]);
}
