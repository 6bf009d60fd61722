import { type Ports, previewRollout } from "../../rollout";
import { OWNER, plainSpec, Scenario, tlsSpec } from "./world";

const tls = tlsSpec(3);

async function settled(): Promise<Scenario> {
  const scenario = new Scenario(tls);
  await scenario.until(tls);
  return scenario;
}

const request = (scenario: Scenario) => ({ spec: tls, owner: OWNER, settled: scenario.state.trust!.settled });

/** Somebody edits the image, and makes every pod again from the edited template. */
function editAndRoll({ world }: Scenario): void {
  world.editImage("example.org/etcd", "edited");
  world.timeline.advance(10_000);
  for (const pod of [...world.pods]) world.deletePod(pod);
  world.timeline.advance(60_000);
}

test("a template that was edited and rolled by hand is seen by preview, and rolled back by an ordinary pass", async () => {
  const scenario = await settled();
  editAndRoll(scenario);
  const { plan } = await scenario.faults.run((ports) => previewRollout(ports, request(scenario), tls));
  expect(plan.filter((step) => step.includes(": restart "))).toHaveLength(3);
  expect(plan[0]).toContain("set the member template");
  const { recorded, planned } = await scenario.once(tls);
  expect(recorded).toEqual(planned);
  scenario.checkReached(tls);
  scenario.verify();
});

test("what the API server or others write into the template is no edit", async () => {
  const scenario = await settled();
  scenario.world.annotateTemplate({ "example.org/injected": "yes" });
  scenario.world.timeline.advance(10_000);
  for (const pod of [...scenario.world.pods]) scenario.world.deletePod(pod);
  scenario.world.timeline.advance(60_000);
  const { plan } = await scenario.faults.run((ports) => previewRollout(ports, request(scenario), tls));
  expect(plan).toEqual([]);
});

test.each([
  ["writes it in another unit", true],
  ["has no dry run", false],
])("a difference is none where the API server %s", async (_, answers) => {
  const scenario = await settled();
  editAndRoll(scenario);
  const { plan } = await scenario.faults.run((ports) => {
    const live = scenario.world.workload!.object;
    const apply: Ports["kube"]["apply"] = async (object, options) => {
      if (!options?.dryRun) return ports.kube.apply(object, options);
      if (!answers) throw new Error("admission webhook does not support dry run");
      return live;
    };
    return previewRollout({ ...ports, kube: { ...ports.kube, apply } }, request(scenario), tls);
  });
  expect(plan).toEqual([]);
});

describe("a cluster that the state knows, without its workload", () => {
  const plain = plainSpec(3);
  const object = (kind: string) => ({ apiVersion: "v1", kind, metadata: { name: "x" } });
  const preview = (scenario: Scenario, previous?: typeof plain) =>
    scenario.faults.run((ports) => previewRollout(ports, { spec: plain, owner: OWNER }, previous));

  test("is refused where nothing of it is here", async () => {
    const asked = preview(new Scenario(plain), plain);
    await expect(asked).rejects.toThrow("the state has a cluster that is not here");
    await expect(asked).rejects.toThrow("is this the right context?");
  });

  test("is told of where its volumes are here, with the way out", async () => {
    const scenario = new Scenario(plain);
    scenario.world.surroundings.set("PersistentVolumeClaim/data-db-1", object("PersistentVolumeClaim"));
    const { notes } = await preview(scenario, plain);
    expect(notes).toEqual([expect.stringMatching(/was deleted by somebody.*pulumi refresh.*pulumi up/)]);
  });

  test("is one whose first update did not get that far where its Service is here", async () => {
    const scenario = new Scenario(plain);
    scenario.world.surroundings.set("Service/db", object("Service"));
    expect((await preview(scenario, plain)).notes).toEqual([]);
  });

  test("that the state does not know is new", async () => {
    expect((await preview(new Scenario(plain))).notes).toEqual([]);
  });
});
