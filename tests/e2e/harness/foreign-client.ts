import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decoded } from "./certificates";
import { type CredentialFiles, fetchCredentials } from "./credentials";
import type { Scenario } from "./scenario";

/** Files of a client whose certificate comes from another issuer; undefined until cert-manager has made it. */
export async function foreignCredentials(scenario: Scenario, issuer: string): Promise<CredentialFiles | undefined> {
  const { kube, namespace, folder } = scenario;
  const name = `${issuer}-client`;
  await kube.apply({
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name, namespace },
    spec: {
      secretName: name,
      commonName: "root",
      usages: ["digital signature", "key encipherment", "client auth"],
      issuerRef: { group: "cert-manager.io", kind: "Issuer", name: issuer },
    },
  });
  const secret = await kube.get("v1", "Secret", name, namespace);
  if (!secret) return undefined;
  const data = decoded(secret.data as Record<string, string>);
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const files = { certificate: join(own, "client.crt"), key: join(own, "client.key") };
  writeFileSync(files.certificate, data["tls.crt"] ?? "");
  writeFileSync(files.key, data["tls.key"] ?? "", { mode: 0o600 });
  // It trusts the members as every client does.
  return { ...files, ca: (await fetchCredentials(scenario, own.concat("-trust"))).ca };
}
