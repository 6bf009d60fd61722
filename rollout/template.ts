import type { LiveWorkload } from "./ports";
import type { ClusterView } from "./view";
import { FatalError } from "./wait";

/** What to wait for once a template was applied: its controller has seen it, and says which revision it is. */
export function seenTemplate({
  ports,
  spec,
}: ClusterView): [what: string, look: () => Promise<{ done: LiveWorkload } | string>] {
  const look = async () => {
    const now = await ports.kube.workload(spec);
    if (!now) throw new FatalError(`${spec.hosts ? "HostSet" : spec.workload.kind} ${spec.name} is gone`);
    return now.observedGeneration >= now.generation ? { done: now } : "it has not yet";
  };
  return ["the workload's controller to see the new template", look];
}

/** A member that came back now would be on somebody else's template. Throws `FatalError`. */
export function refuseForeignTemplate(live: LiveWorkload | undefined, revision: string): void {
  if (live === undefined || live.updateRevision === revision) return;
  throw new FatalError(
    `${live.kind} ${live.object.metadata.name} has the template ${live.updateRevision} instead of ${revision}: somebody else changed it meanwhile; run the update again`,
  );
}
