import type { ConfigProblem, EtcdSpec } from "../config/types";
import { minorOf } from "../config/versions";
import type { KubeObject } from "../manifests/types";
import { hasLostData, withAdvice } from "./lost-data";
import type { Observation } from "./observe";
import type { LivePod, Right } from "./ports";
import { missingRightsProblem } from "./rights";
import { claimName, PEER_SCHEME } from "./volumes";

/** The right that nothing else needs: while members refuse each other, a PodDisruptionBudget allows no eviction. */
export function repairRights({ namespace }: Pick<EtcdSpec, "namespace">): Right[] {
  return [{ group: "", resource: "pods", verb: "delete", namespace }];
}

/**
 * What speaks against a repair: signs that something else than trust is amiss, and anything that makes it doubtful
 * whether the members' data is on their volumes. Where there is no quorum, restarting members that keep their data
 * loses nothing; members that don't could form a cluster without it.
 */
export async function repairProblems(observation: Observation): Promise<ConfigProblem[]> {
  const { spec, ports } = observation.view;
  if (!spec.hosts) {
    const rights = missingRightsProblem(spec.namespace, await ports.kube.missingRights(repairRights(spec)));
    if (rights) return [rights];
  }
  const signs = await memberSigns(observation);
  if (signs.length === 0) return [];
  return [
    {
      path: "etcd:name",
      value: spec.name,
      rule: `members do not trust each other's certificates, and are not restarted onto a wider trust bundle, since something else is amiss: ${signs.join("; ")}`,
      mend: "Fix that first (docs/recovery.md), then run the update again; nothing was changed",
    },
  ];
}

interface PodTemplate {
  spec?: { containers?: { image?: string }[] };
}

function liveImage({ workload }: Observation): string | undefined {
  const template = (workload?.object.spec as { template?: PodTemplate } | undefined)?.template;
  return template?.spec?.containers?.[0]?.image;
}

async function memberSigns(observation: Observation): Promise<string[]> {
  const { view, pods } = observation;
  const { spec } = view;
  const ordinals = Array.from({ length: spec.replicas }, (_, ordinal) => ordinal);
  const claims = spec.hosts ? [] : await Promise.all(ordinals.map((ordinal) => claimSign(view, ordinal)));
  const told = await Promise.all(pods.map((pod) => podSigns(observation, pod)));
  return [...claims.flat(), ...new Set(told.flat())];
}

/** Why a member's volume may not be the one that it has served from; nothing if it is. */
export async function claimSign({ spec, ports }: Observation["view"], ordinal: number): Promise<string[]> {
  const name = claimName(spec, ordinal);
  const claim = (await ports.kube.get("v1", "PersistentVolumeClaim", spec.namespace, name)) as
    | (KubeObject & { metadata: { deletionTimestamp?: string } })
    | undefined;
  const label = `PersistentVolumeClaim ${spec.namespace}/${name}`;
  if (!claim) return [`${label} is gone`];
  if (claim.metadata.deletionTimestamp) return [`${label} is being deleted, and its volume goes with the pod`];
  if (claim.metadata.annotations?.[PEER_SCHEME] !== undefined) return [];
  return [`${label} does not have the mark that an update leaves once its member serves: it may have been made anew`];
}

async function podSigns(observation: Observation, pod: LivePod): Promise<string[]> {
  if (pod.trouble && hasLostData(pod.trouble)) return [`${pod.name}: ${withAdvice(pod.trouble)}`];
  const found = await observation.view.vitals(pod).catch(() => undefined);
  if (!found) return foreignSigns(observation, pod);
  const { version: wanted } = observation.view.spec;
  return [
    ...(found.alarm ? [`alarm ${found.alarm} is raised`] : []),
    // A change of version asks members for theirs before every restart, and now they let nobody in.
    ...(found.version !== undefined && minorOf(found.version) !== minorOf(wanted)
      ? [`${pod.name} runs etcd ${found.version}, and ${wanted} is wanted: set etcd:version back for this update`]
      : []),
  ];
}

/** A member that does not run, on a template that is not ours: trust may not be what it lacks. */
function foreignSigns(observation: Observation, pod: LivePod): string[] {
  const { workload, view } = observation;
  const image = liveImage(observation);
  if (image === undefined || image === view.spec.image || pod.ready) return [];
  if (pod.revision !== workload?.updateRevision) return [];
  return [
    `${pod.name} does not run, with the image ${image} instead of ${view.spec.image}: put the template's image back`,
  ];
}
