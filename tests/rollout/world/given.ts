import type { Alias, EtcdSpec } from "../../../config";
import { authority, issue } from "./cert-manager";
import { tlsSpec } from "./specs";
import { BEGINNING } from "./timeline";
import type { World } from "./world";

/** Begins the names of Secrets that somebody else maintains; the CA's name follows it. */
const GIVEN = /^given-(.*)-(server|peer|client)$/;

export function isGiven(secretName: string): boolean {
  return GIVEN.test(secretName);
}

/** Somebody else has made the Secrets before a spec names them: with leaves of the CA that they are called after. */
export function provideSecrets(world: World, spec: EtcdSpec): void {
  for (const name of Object.values(spec.tls?.secrets ?? {})) {
    if (!world.certManager.secrets.has(name)) giveSecret(world, name, { ca: GIVEN.exec(name)![1]! });
  }
}

/** Somebody else writes a Secret. */
export function giveSecret(world: World, name: string, { ca, serial = 1 }: { ca: string; serial?: number }): void {
  const [from, alias] = [authority(ca), GIVEN.exec(name)![2] as Alias];
  const { certificates } = tlsSpec(world.spec.replicas).tls!;
  const { commonName, dnsNames, ipAddresses } = certificates.find((each) => each.alias === alias)!;
  const leaf = issue(from, { commonName, dnsNames, ipAddresses }, serial, BEGINNING);
  world.certManager.giveSecret(name, { ...leaf, ca: from.certificate });
}
