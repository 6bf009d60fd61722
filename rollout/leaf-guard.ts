import { trustBundleName } from "../config/names";
import type { CertificateSpec, EtcdSpec, IssuerRef } from "../config/types";
import { TRUST_REVISION } from "../manifests";
import { readTrustedCas, startedBundle, subjectsBeyond } from "./bundle";
import { learnCa, peekCa } from "./issuer-ca";
import type { LivePod, LiveWorkload, Ports } from "./ports";
import { FatalError } from "./wait";
import { certificatesOf, chainsTo } from "./x509";

/** The CAs that each member was started with, and one that comes back would be; "" if that is not known. */
export async function startedBundles(
  ports: Ports,
  spec: Pick<EtcdSpec, "name" | "namespace">,
  { workload, pods }: { workload?: LiveWorkload | undefined; pods: LivePod[] },
): Promise<string[]> {
  const data = await ports.kube.configMapData(spec.namespace, trustBundleName(spec));
  const started = [workload?.templateAnnotations, ...pods.map((pod) => pod.annotations)];
  const bundles = started.flatMap((annotations) =>
    annotations?.[TRUST_REVISION] === undefined ? [] : [startedBundle(data, annotations) ?? ""],
  );
  return [...new Set(bundles)];
}

/**
 * Stands before everything that makes cert-manager issue: a leaf that the members accept may give way only to one that
 * they accept as well. What the issuer signs with now is read from its Secret, or else learned by asking it.
 */
export class LeafGuard {
  private readonly known = new Map<string, Promise<string>>();
  private started: Promise<string[]> | undefined;

  constructor(
    private readonly ports: Ports,
    private readonly spec: EtcdSpec,
  ) {}

  /** Throws `FatalError` if the next leaf of this certificate would be refused by members that accept the present one. */
  async demand({ secretName, issuerRef: ref }: CertificateSpec): Promise<void> {
    this.started ??= this.readStarted();
    const started = await this.started;
    if (!ref || started.length === 0 || !(await this.isAccepted(secretName, started))) return;
    const ca = await this.caOf(ref);
    const strange = started.flatMap((bundle) => subjectsBeyond(ca, bundle));
    if (strange.length === 0) return;
    throw new FatalError(
      `Certificate for Secret ${this.spec.namespace}/${secretName} was left as it is: ${ref.kind} ${ref.name} signs with ${strange[0]}, which not every member trusts yet. Run the update of the whole stack, without --target or --exclude: it brings the members to trust that CA first`,
    );
  }

  private async readStarted(): Promise<string[]> {
    const { kube } = this.ports;
    return startedBundles(this.ports, this.spec, {
      workload: await kube.workload(this.spec),
      pods: await kube.pods(this.spec),
    });
  }

  private async isAccepted(secretName: string, started: string[]): Promise<boolean> {
    const material = await this.ports.kube.secretMaterial(this.spec.namespace, secretName);
    const [leaf] = certificatesOf(material?.certificate ?? "");
    if (!material || !leaf || Date.parse(leaf.validTo) < this.ports.clock.now()) return false;
    return started.every((bundle) => chainsTo(material.certificate, bundle));
  }

  /** An issuer that names no CA is covered by `tls.trustedCAs`. */
  private caOf(ref: IssuerRef): Promise<string> {
    const key = JSON.stringify(ref);
    const known = this.known.get(key) ?? this.learn(ref);
    this.known.set(key, known);
    return known;
  }

  private async learn(ref: IssuerRef): Promise<string> {
    const seen = await peekCa(this.ports, this.spec.namespace, ref);
    if (seen !== undefined) return seen;
    const further = (await readTrustedCas(this.ports, this.spec)).join("\n");
    return (await learnCa(this.ports, this.spec, ref, further)) || further;
  }
}
