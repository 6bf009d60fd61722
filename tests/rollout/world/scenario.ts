import { type EtcdSpec, minorOf, ownCertificates, peerUrl, trustBundleName } from "../../../config";
import {
  finalStage,
  renderCertificates,
  renderTrustBundle,
  renderWorkload,
  stageOf,
  trustRevision,
} from "../../../manifests";
import { DeadlineError, type Ports, previewRollout, Refusal } from "../../../rollout";
import { certificatesOf } from "../../../rollout/x509";
import { trusts } from "./cert-manager";
import { EngineKilled, type Fault, Faults } from "./faults";
import { isGiven, provideSecrets } from "./given";
import { givenCa } from "./habits";
import { Invariants } from "./invariants";
import { bundleOf } from "./pods";
import { nothingYet, OWNER, type State, type UpdateResult, up } from "./program";
import type { Ending } from "./tally";
import { World, type WorldOptions } from "./world";

/** More attempts than faults in any schedule: the last ones run undisturbed. */
const ATTEMPTS = 15;

/** What is asked for once an update was killed. */
interface Revert {
  to: EtcdSpec;
  /** Whether the next kill changes it again. */
  wavering: boolean;
  /** Called whenever it changes. */
  turn?: (way: "forth" | "back") => void;
}

/** A cluster and a person who keeps running `pulumi up` until it succeeds. */
export class Scenario {
  readonly world: World;
  readonly invariants: Invariants;
  faults: Faults;
  readonly state: State = nothingYet();
  /** What the updates that did not succeed died of. */
  readonly failures: string[] = [];
  /** How many updates were run since things began to go wrong, and how the last one came to its end. */
  updates = 0;
  ending: Ending = "at once";

  constructor(spec: EtcdSpec, options: WorldOptions = {}) {
    this.world = new World(spec, options);
    this.invariants = new Invariants(this.world);
    this.faults = new Faults(this.world, this.invariants);
    this.world.certManager.addIssuer("Issuer", "ca-a");
    this.world.certManager.addIssuer("Issuer", "ca-b");
  }

  /** From here on things go wrong as the schedule says. */
  disturb(faults: Fault[]): void {
    this.faults = new Faults(this.world, this.invariants, faults);
  }

  /** One update; a refusal must leave the workload as it was. */
  async once(spec: EtcdSpec): Promise<UpdateResult> {
    provideSecrets(this.world, spec);
    this.world.certManager.updatedAt = this.world.now();
    const before = this.untouched();
    const evictions = this.invariants.evictions.length;
    try {
      return await this.faults.run((ports) => up(ports, spec, this.state));
    } catch (error) {
      const evicted = this.invariants.evictions.length !== evictions;
      const touched = this.untouched().some((part, index) => part !== before[index]);
      if (error instanceof Refusal && (evicted || touched)) this.invariants.fail("a refusal changed something");
      throw error;
    }
  }

  /** What nothing but an update changes: frozen objects, to be compared by identity. */
  private untouched(): unknown[] {
    const { workload, configMaps, certManager, raft } = this.world;
    const specs = [...certManager.certificates.values()].map(({ spec }) => spec);
    return [workload?.applied, ...configMaps.values(), ...specs, ...raft.members.map(({ peerUrls }) => peerUrls)];
  }

  /** Once everything has come to rest, the same program has nothing to do, however often it looks. */
  async checkQuiet(spec: EtcdSpec): Promise<void> {
    for (let look = 0; look < 3; look++) await this.lookOnce(spec);
  }

  /** A workload that somebody has edited is another matter. */
  private async lookOnce(spec: EtcdSpec): Promise<void> {
    const { world, state } = this;
    world.timeline.advance(30_000);
    const latest = world.workload?.observed.revision;
    const settled = world.pods.filter(({ ready, revision }) => ready && revision === latest);
    if (world.workload?.edited || settled.length < spec.replicas) return;
    this.faults.end();
    const request = { spec, owner: OWNER, ...(state.trust && { settled: state.trust.settled }) };
    const { plan } = await this.faults.run((ports) => previewRollout(ports, request, state.spec));
    if (plan.length > 0) this.invariants.fail(`after success there is still a plan: ${plan.join("; ")}`);
  }

  /** Updates until one succeeds. `revert`: after the first one that is killed, that spec is asked for instead. */
  async until(spec: EtcdSpec, revert?: Revert): Promise<EtcdSpec> {
    let asked = spec;
    let reverted = false;
    this.updates = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      this.updates += 1;
      try {
        const { given, keys, unattended } = this.world.certManager;
        const renewals = unattended.size;
        await this.once(asked);
        // Whoever has written a Secret meanwhile runs the update once more.
        if (asked.tls?.secrets && given !== this.world.certManager.given) continue;
        // What is renewed meanwhile, the next update sees.
        if (keys !== this.world.certManager.keys || renewals !== unattended.size) continue;
        this.checkReached(asked);
        this.ending = this.endingOf(reverted);
        return asked;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        this.failures.push(error instanceof EngineKilled ? "killed" : `${error.name}: ${error.message}`);
        if (this.faults.killsAlone && !(error instanceof EngineKilled))
          this.invariants.fail(`an update failed although nothing went wrong: ${error.message}`);
        if (revert && error instanceof EngineKilled) {
          reverted = !reverted || !revert.wavering;
          revert.turn?.(reverted ? "back" : "forth");
          asked = reverted ? revert.to : spec;
        }
        // Somebody reads the error and runs the update again, in half a minute.
        this.world.timeline.advance(error instanceof DeadlineError ? 60_000 : 30_000);
      }
    }
    this.invariants.fail(`the asked state was not reached: ${this.failures.at(-1)}`);
    return asked;
  }

  private endingOf(reverted: boolean): Ending {
    if (reverted) return "reverted after a kill";
    if (this.failures.includes("killed")) return "resumed after a kill";
    return this.updates > 1 ? "run again" : "at once";
  }

  /** What an update makes before it walks, for tests that walk themselves. */
  async prepareTls(ports: Ports, spec: EtcdSpec, ca: string): Promise<void> {
    await ports.kube.apply(renderTrustBundle(spec, ca));
    for (const certificate of renderCertificates(spec)) await ports.kube.apply(certificate);
    this.world.timeline.advance(10_000);
  }

  /** Throws with everything that went on, if a promise was broken. */
  verify(): void {
    const { broken } = this.invariants;
    if (broken.length === 0) return;
    const story = [...broken, "what happened:", ...this.faults.happened, "attempts ended with:", ...this.failures];
    throw new Error(story.join("\n  "));
  }

  /** The state that was asked for, seen from outside. */
  checkReached(spec: EtcdSpec): void {
    const { workload, pods, raft } = this.world;
    const stage = finalStage(spec);
    const bundle = spec.tls && bundleOf(this.world.configMaps.get(trustBundleName(spec)));
    const template = { stage, ...(bundle && { trustRevision: trustRevision(bundle) }) };
    const wanted = renderWorkload(spec, template, { owner: OWNER });
    const fail = (what: string) => this.invariants.fail(`after success ${what}`);
    if (!same(workload?.applied, wanted)) fail("the workload was not applied as it was rendered");
    if (!workload?.edited && !same(workload?.own(), wanted)) fail("the workload is not what was rendered");
    if (pods.some((pod) => pod.revision !== workload?.shownRevision)) fail("pods are on several revisions");
    for (const { name, process, peerUrls, ordinal } of raft.voters) {
      const url = peerUrl(spec, ordinal, spec.tls ? "https" : "http");
      if (peerUrls.join() !== url) fail(`${name} is registered under ${peerUrls.join(" and ")}`);
      if (process && JSON.stringify(process.stage) !== JSON.stringify(stage)) fail(`${name} runs another stage`);
    }
    if (pods.some((pod) => !stageOf(pod.template.metadata.annotations))) fail("a pod has no stage");
    this.checkVersions(spec, fail);
    this.checkCertificates(spec, fail);
  }

  /** Every member runs the release that was asked for, and the cluster has come to it. */
  private checkVersions({ version }: EtcdSpec, fail: (what: string) => void): void {
    const { members, versions } = this.world.raft;
    for (const { name, process } of members)
      if (process && minorOf(process.version) !== minorOf(version)) fail(`${name} runs etcd ${process.version}`);
    if (versions.cluster !== minorOf(version)) fail(`the cluster speaks ${versions.cluster}`);
    // Members of 3.5 tell nobody: what they have not ended yet, they end a few seconds later.
    const hidden = minorOf(version) === "3.5";
    if (versions.downgradeTo !== undefined && !hidden) fail(`a downgrade to ${versions.downgradeTo} is enabled`);
  }

  /** The Certificates and Secrets of the spec's source, and none besides; and a bundle of the source's CAs alone. */
  private checkCertificates(spec: EtcdSpec, fail: (what: string) => void): void {
    const { certManager, configMaps, raft } = this.world;
    const wanted = [
      ...renderCertificates(spec).map(({ metadata }) => metadata.name),
      ...ownCertificates(spec.tls).map(({ secretName }) => secretName),
    ];
    const made = [...certManager.certificates.keys(), ...certManager.secrets.keys()];
    const left = made.filter((name) => !wanted.includes(name) && !isGiven(name));
    if (left.length > 0) fail(`Certificates or Secrets are left: ${left.join(", ")}`);
    if (!spec.tls) return;
    const bundle = bundleOf(configMaps.get(trustBundleName(spec)));
    const extra = certificatesOf(bundle).length - this.casOf(spec.tls).length;
    if (this.casOf(spec.tls).some((ca) => !bundle.includes(ca.trim())) || extra !== 0)
      fail("the trust bundle does not hold the CAs of the spec alone");
    for (const { name, process } of raft.members)
      if (process && !trusts(bundle, process.serverLeaf())) fail(`${name} serves a leaf that clients do not trust`);
  }

  /** The CAs of whatever makes the certificates, and those that the spec names. */
  private casOf(tls: NonNullable<EtcdSpec["tls"]>): string[] {
    const { issuers, secrets } = this.world.certManager;
    const sources = [
      this.state.ownCa.known(tls),
      ...tls.certificates.flatMap(({ issuerRef: ref }) => {
        const issuer = ref && issuers.get(`${ref.kind}/${ref.name}`);
        return issuer && splitPem(givenCa(issuer.authority.certificate, issuer.habits));
      }),
      ...Object.values(tls.secrets ?? {}).map((name) => secrets.get(name)?.ca),
      ...tls.trustedCAs.map((ca) => ("pem" in ca ? ca.pem : undefined)),
    ];
    return [...new Set(sources.filter((ca) => ca !== undefined).map((ca) => ca.trim()))];
  }
}

function splitPem(pem: string): string[] {
  return pem.split(/(?<=-----END CERTIFICATE-----)\s*/).filter((each) => each !== "");
}

/** What is frozen need not be compared with itself. */
function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
