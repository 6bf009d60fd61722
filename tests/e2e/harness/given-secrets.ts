import { ALIASES } from "./certificates";
import { eventually } from "./command";
import { CLUSTER, type Scenario } from "./scenario";

/**
 * Has an issuer fill Secrets as somebody else would, with names and rules of their own: nothing of them is the
 * stack's. Called again with another issuer, it changes them in place. Returns the settings that name them.
 */
export async function giveSecrets(scenario: Scenario, issuer: string): Promise<Record<string, string>> {
  const { kube, namespace } = scenario;
  for (const alias of ALIASES) {
    await kube.apply({
      apiVersion: "cert-manager.io/v1",
      kind: "Certificate",
      metadata: { name: given(alias), namespace },
      spec: {
        secretName: given(alias),
        issuerRef: { group: "cert-manager.io", kind: "Issuer", name: issuer },
        commonName: alias === "client" ? "root" : CLUSTER,
        dnsNames: names(scenario)[alias],
        usages: ["digital signature", "key encipherment", "server auth", "client auth"],
        privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      },
    });
  }
  for (const alias of ALIASES) await signedBy(scenario, given(alias), issuer);
  return Object.fromEntries(ALIASES.map((alias) => [`etcd:tls.secrets.${alias}`, given(alias)]));
}

/** Name of a Secret that somebody else maintains, and of what fills it. */
export function given(alias: (typeof ALIASES)[number]): string {
  return `given-${alias}`;
}

/** A wildcard where the product's own certificate names every member, but for peers, who need each name. */
function names({ members, namespace, environment }: Scenario): Record<(typeof ALIASES)[number], string[]> {
  const domain = `${namespace}.svc.${environment.clusterDomain}`;
  return {
    server: [`${CLUSTER}.${domain}`, `*.${CLUSTER}-pods.${domain}`],
    peer: [...members.map(({ address }) => address.replace(/:\d+$/, "")), `*.${CLUSTER}-pods.${domain}`],
    client: ["client.example.org"],
  };
}

async function signedBy({ kube, namespace }: Scenario, name: string, issuer: string): Promise<void> {
  await eventually(`Secret ${name} to be filled by ${issuer}`, 60_000, async () => {
    const secret = await kube.get("v1", "Secret", name, namespace);
    return secret?.metadata.annotations?.["cert-manager.io/issuer-name"] === issuer ? true : undefined;
  });
}
