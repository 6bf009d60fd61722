import { type Alias, type EtcdSpec, ownCertificates } from "../../../config";
import type { SecretMaterial } from "../../../rollout";
import { authority, issue } from "./cert-manager";
import type { Authority } from "./pki";
import { BEGINNING } from "./timeline";

type TlsSpec = NonNullable<EtcdSpec["tls"]>;
type CaSpec = NonNullable<TlsSpec["ca"]>;

/** A resource of the provider `tls`: what it was made of, and what came of it. */
interface Made<T> {
  inputs: string;
  made: T;
}

/**
 * The cluster's own CA as Pulumi's state holds it: a CA for each generation, a leaf for each certificate. Whatever is
 * made of other inputs than before is made anew.
 */
export class OwnCa {
  private readonly cas = new Map<number, Made<Authority>>();
  private readonly leaves = new Map<Alias, Made<SecretMaterial>>();
  /** No two CAs of one cluster have the same key, and no two leaves the same serial. */
  private count = 0;

  /** The CA's PEM; absent while it would have to be made. */
  known(tls: TlsSpec | undefined): string | undefined {
    return tls?.ca && this.caOf(tls.ca)?.certificate;
  }

  /** The leaves by alias; absent while one would have to be made. */
  knownLeaves(tls: TlsSpec): Map<Alias, SecretMaterial> | undefined {
    const leaves = ownCertificates(tls).map(({ alias }) => ({ alias, leaf: this.leaves.get(alias) }));
    if (leaves.some(({ alias, leaf }) => leaf?.inputs !== this.leafInputs(tls, alias))) return undefined;
    return new Map(leaves.map(({ alias, leaf }) => [alias, leaf!.made]));
  }

  makeCa(tls: TlsSpec | undefined): string | undefined {
    const { ca } = tls ?? {};
    if (!ca) return undefined;
    const made = this.caOf(ca) ?? authority(ca.commonName, ++this.count);
    this.cas.set(ca.generation, { inputs: caInputs(ca), made });
    return made.certificate;
  }

  makeLeaves(tls: TlsSpec): Map<Alias, SecretMaterial> {
    const ca = this.caOf(tls.ca!)!;
    for (const { alias, commonName, duration, privateKey, ...names } of ownCertificates(tls)) {
      const inputs = this.leafInputs(tls, alias);
      if (this.leaves.get(alias)?.inputs === inputs) continue;
      const { dnsNames, ipAddresses, uris } = names;
      const { encoding } = privateKey;
      const wish = { commonName, duration, privateKey: { encoding }, dnsNames, ipAddresses, uris };
      const made = { ...issue(ca, wish, ++this.count, BEGINNING), ca: ca.certificate };
      this.leaves.set(alias, { inputs, made });
    }
    return this.knownLeaves(tls)!;
  }

  /** At the end of an update: what the program no longer declares. */
  forget(tls: TlsSpec | undefined): void {
    for (const generation of this.cas.keys()) if (generation !== tls?.ca?.generation) this.cas.delete(generation);
    if (!tls?.ca) this.leaves.clear();
  }

  private caOf(ca: CaSpec): Authority | undefined {
    const known = this.cas.get(ca.generation);
    return known?.inputs === caInputs(ca) ? known.made : undefined;
  }

  private leafInputs(tls: TlsSpec, alias: Alias): string {
    const { secretName: _, renewBefore: __, ...wish } = tls.certificates.find((each) => each.alias === alias)!;
    return JSON.stringify([this.known(tls), wish, tls.rotate]);
  }
}

function caInputs({ renewBefore: _, generation: __, ...wish }: CaSpec): string {
  return JSON.stringify(wish);
}
