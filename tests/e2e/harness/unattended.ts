import { ALIASES } from "./certificates";
import { eventually } from "./command";
import { caOf, renew } from "./issuers";
import type { Scenario } from "./scenario";
import { shakeHands } from "./tls-probe";

/**
 * cert-manager renews the CA behind the issuer, with another key, and then every leaf, and nobody has run an update in
 * between; the kubelet brings the leaves to the members.
 */
export async function renewUnattended(scenario: Scenario): Promise<void> {
  const { kube, namespace, issuerName } = scenario;
  const before = await caOf(kube, issuerName, namespace);
  await renew(kube, namespace, issuerName);
  await eventually("the issuer to have another CA", 60_000, async () =>
    (await caOf(kube, issuerName, namespace)) === before ? undefined : true,
  );
  for (const alias of ALIASES) await renew(kube, namespace, `etcd-${alias}-cert`);
  for (const { name } of await scenario.pods()) {
    // A changed annotation makes the kubelet look at the pod's Secrets now.
    const annotations = { "example.org/look": new Date().toISOString() };
    await kube.edit("v1", "Pod", name, namespace, { metadata: { annotations } });
  }
  await eventually("the members to refuse everybody", 180_000, async () => {
    const handshakes = await shakeHands(scenario, "TLSv1.2");
    return handshakes.every(({ error }) => error !== undefined) ? true : undefined;
  });
}
