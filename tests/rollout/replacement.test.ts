import fc from "fast-check";
import { ConfigError, classify, type EtcdSpec, parseSpec } from "../../config";
import { finalStage, renderWorkload } from "../../manifests";
import { previewRollout } from "../../rollout";
import { checkReplacement, FIXED_FIELDS } from "../../rollout/replacement";
import { rawConfig } from "../config/arbitraries";
import { OWNER, plainSpec, Scenario, tlsSpec } from "./world";

/** Everything that Pulumi's provider replaces a StatefulSet for, and the kind, which makes it another resource. */
function identity(spec: EtcdSpec) {
  const trustRevision = spec.tls && { trustRevision: "rev" };
  const { kind, metadata, spec: fields } = renderWorkload(spec, { stage: finalStage(spec), ...trustRevision });
  const fixed = FIXED_FIELDS.map((field) => (fields as Record<string, unknown>)[field]);
  return { kind, name: metadata.name, namespace: metadata.namespace, fixed };
}

/** Every key of the stack config that may reach the workload. */
const KEYS = [
  ...["name", "namespace", "replicas", "version", "image", "workload", "storage", "resources", "extraArgs", "extraEnv"],
  ...["tls", "rollout"],
];

test("a change of the config that would replace the workload is refused, whatever it is", () => {
  let accepted = 0;
  fc.assert(
    fc.property(rawConfig, rawConfig, fc.constantFrom(...KEYS), (raw, other, changed) => {
      const [old, next] = [parseSpec(raw).spec, parseSpec({ ...raw, [changed]: other[changed] }).spec];
      try {
        classify(old, next);
      } catch (error) {
        if (error instanceof ConfigError) return;
        throw error;
      }
      accepted++;
      expect(identity(next)).toEqual(identity(old));
    }),
    { numRuns: 500 },
  );
  expect(accepted).toBeGreaterThan(100);
});

describe("the last look", () => {
  async function refusedAfter(edit: (fields: Record<string, unknown>) => void, spec = plainSpec()): Promise<string> {
    const scenario = new Scenario(spec);
    await scenario.once(spec);
    const workload = scenario.world.workload!;
    workload.object = structuredClone(workload.object);
    edit(workload.object.spec as unknown as Record<string, unknown>);
    const preview = scenario.faults.run((ports) => previewRollout(ports, { spec, owner: OWNER }, spec));
    return preview.then(
      () => "",
      (error: Error) => error.message,
    );
  }

  test.each([...FIXED_FIELDS])("sees another %s on the live workload", async (field) => {
    const others: Record<(typeof FIXED_FIELDS)[number], unknown> = {
      serviceName: "others",
      selector: { matchLabels: { app: "etcd" } },
      podManagementPolicy: "OrderedReady",
      revisionHistoryLimit: 3,
      volumeClaimTemplates: [],
    };
    const message = await refusedAfter((fields) => {
      fields[field] = others[field];
    });
    expect(message).toContain(`StatefulSet data/db differs in spec.${field}, which cannot be changed on a live one`);
  });

  test("sees another size of the volumes", async () => {
    const message = await refusedAfter((fields) => {
      const [claim] = fields.volumeClaimTemplates as [{ spec: { resources: { requests: { storage: string } } } }];
      claim.spec.resources.requests.storage = "1Ti";
    });
    expect(message).toContain("spec.volumeClaimTemplates");
  });

  test("does not mind what the API server fills in", async () => {
    const filled = (fields: Record<string, unknown>) => {
      const [claim] = fields.volumeClaimTemplates as [{ spec: object }];
      Object.assign(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim", status: { phase: "Pending" } });
      Object.assign(claim.spec, { volumeMode: "Filesystem" });
    };
    expect(await refusedAfter(filled)).toBe("");
    expect(await refusedAfter(filled, tlsSpec())).toBe("");
  });

  test("finds nothing on a workload that was rendered from the spec", async () => {
    const scenario = new Scenario(tlsSpec());
    await scenario.once(tlsSpec());
    expect(checkReplacement(tlsSpec(), scenario.world.workload!.live())).toEqual([]);
  });
});
