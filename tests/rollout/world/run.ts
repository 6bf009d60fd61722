import type { EtcdSpec } from "../../../config";
import { giveSecret } from "./given";
import { Scenario } from "./scenario";
import type { Change, Schedule } from "./schedule";
import { givenSpec, ownCaSpec, plainSpec, tlsSpec } from "./specs";
import type { World } from "./world";

/** Lives one schedule: a settled cluster, one change of it, and faults until it is carried out or reverted. */
export async function live(schedule: Schedule): Promise<Scenario> {
  const {
    replicas,
    change,
    revert,
    wavering = false,
    elsewhere,
    learner,
    budget,
    habits,
    durations,
    faults,
  } = schedule;
  const { before, after, happens } = changeOf(change, replicas);
  const scenario = new Scenario(before, {
    durations,
    budget,
    ...(learner !== undefined && replicas > 1 && { learner: learner % replicas }),
  });
  if (habits) for (const issuer of scenario.world.certManager.issuers.values()) issuer.habits = habits;
  scenario.world.versionsMatter = before.version !== after.version;
  await scenario.until(before);
  happens?.(scenario.world, "forth");
  scenario.disturb(faults);
  const to = elsewhere === undefined ? before : ELSEWHERE[elsewhere]!(replicas);
  const turn = (way: Way) => happens?.(scenario.world, way);
  const asked = await scenario.until(after, revert ? { to, wavering, turn } : undefined);
  if (scenario.invariants.broken.length === 0) await scenario.checkQuiet(asked);
  return scenario;
}

/** Where people may want to go in the middle of something else: to each source in turn, and out of TLS. */
const ELSEWHERE: ((replicas: number) => EtcdSpec)[] = [
  plainSpec,
  tlsSpec,
  (replicas) => tlsSpec(replicas, { tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } }),
  (replicas) => ownCaSpec(replicas, { ca: { generation: 3 } }),
  givenSpec,
  (replicas) => givenSpec(replicas, "others"),
];

type Way = "forth" | "back";

interface Transition {
  before: EtcdSpec;
  after: EtcdSpec;
  /** What somebody else does, where the change is not one of the spec, or not of the spec alone. */
  happens?: (world: World, way: Way) => void;
}

function changeOf(change: Change, replicas: number): Transition {
  const [plain, tls, own, given] = [plainSpec, tlsSpec, ownCaSpec, givenSpec].map((spec) => spec(replicas)) as [
    EtcdSpec,
    EtcdSpec,
    EtcdSpec,
    EtcdSpec,
  ];
  const issuerRef = { name: "ca-a", kind: "Issuer" };
  switch (change) {
    case "add":
      return { before: plain, after: tls };
    case "remove":
      return { before: tls, after: plain };
    case "reissue":
      return { before: tls, after: tlsSpec(replicas, { tls: { issuerRef: { ...issuerRef, name: "ca-b" } } }) };
    case "rotate":
      return { before: tls, after: tlsSpec(replicas, { tls: { issuerRef, rotate: "1" } }) };
    case "template":
      return { before: tls, after: tlsSpec(replicas, { extraArgs: { "snapshot-count": 5000 } }) };
    case "own-ca: add":
      return { before: plain, after: own };
    case "own-ca: remove":
      return { before: own, after: plain };
    case "own-ca: next generation":
      return { before: own, after: ownCaSpec(replicas, { ca: { generation: 2 } }) };
    case "own-ca: another name": {
      const certificates = [{ alias: "server", dnsNames: ["etcd.example.org"] }];
      return { before: own, after: ownCaSpec(replicas, { certificates }) };
    }
    case "own-ca: rotate":
      return { before: own, after: ownCaSpec(replicas, { rotate: "1" }) };
    case "secrets: add":
      return { before: plain, after: given };
    case "secrets: remove":
      return { before: given, after: plain };
    case "secrets: others":
      return { before: given, after: givenSpec(replicas, "others") };
    case "secrets: another CA":
      return { before: given, after: given, happens: rewritten({ ca: "given-next" }) };
    case "secrets: renewed":
      return { before: given, after: given, happens: rewritten({ ca: "given", serial: 2 }) };
    case "etcd 3.5 to 3.6":
      return { before: versioned(replicas, "3.5.36"), after: versioned(replicas, "3.6.17") };
    case "etcd 3.6 to 3.7":
      return { before: versioned(replicas, "3.6.17"), after: versioned(replicas, "3.7.3") };
    case "etcd 3.7 to 3.6":
      return { before: versioned(replicas, "3.7.3"), after: versioned(replicas, "3.6.17") };
    case "etcd 3.6 to 3.5":
      return { before: versioned(replicas, "3.6.17"), after: versioned(replicas, "3.5.36") };
    case "issuer to own-ca":
      return { before: tls, after: own };
    case "own-ca to issuer":
      return { before: own, after: tls };
    case "issuer to secrets":
      return { before: tls, after: given };
    case "secrets to issuer":
      return { before: given, after: tls };
    case "own-ca to secrets":
      return { before: own, after: given };
    case "secrets to own-ca":
      return { before: given, after: own };
  }
}

function versioned(replicas: number, version: string): EtcdSpec {
  return tlsSpec(replicas, { version });
}

/** Somebody writes all given Secrets anew, or puts them back. */
function rewritten(next: { ca: string; serial?: number }): Transition["happens"] {
  return (world, way) => {
    const { secrets } = givenSpec(world.spec.replicas).tls!;
    for (const name of Object.values(secrets ?? {})) giveSecret(world, name, way === "forth" ? next : { ca: "given" });
  };
}
