import { deletedUnderPods, outages, type PodEvent, type PodState, passes, restarts } from "../e2e/harness/timeline";

const MEMBERS = ["etcd-0", "etcd-1", "etcd-2"];

/** Events as a watch hands them out, a second apart. */
class Story {
  readonly events: PodEvent[] = [];

  constructor() {
    for (const name of MEMBERS) this.tell(name, { uid: `${name} old`, ready: true }, { initial: true });
  }

  tell(name: string, state: Partial<PodState>, event: Partial<PodEvent> = {}): this {
    const at = (this.events.length + 1) * 1000;
    const plain = { ready: false, terminating: false, revision: "r1", containerRestarts: 0, secrets: [] };
    const pod = { name, uid: `${name} old`, ...plain, ...state };
    this.events.push({ at, version: at, initial: false, gone: false, pod, ...event });
    return this;
  }

  /** A member's pod is ended and made again. */
  restart(name: string, revision: string, old = `${name} old`): this {
    return this.tell(name, { uid: old, ready: true, terminating: true })
      .tell(name, { uid: old, terminating: true }, { gone: true })
      .tell(name, { uid: `${name} ${revision}`, revision })
      .tell(name, { uid: `${name} ${revision}`, revision, ready: true });
  }
}

describe("outages", () => {
  test("members that restart one after the other are none", () => {
    const { events } = new Story().restart("etcd-2", "r2").restart("etcd-1", "r2").restart("etcd-0", "r2");
    expect(outages(events, MEMBERS)).toEqual([]);
  });

  test("a second member that begins to end while the first is not ready again is one", () => {
    const { events } = new Story()
      .tell("etcd-2", { terminating: true, ready: true })
      .tell("etcd-2", { terminating: true }, { gone: true })
      .tell("etcd-1", { terminating: true, ready: true });
    expect(outages(events, MEMBERS)).toEqual([{ at: 6000, down: ["etcd-1", "etcd-2"] }]);
  });

  test("a member that loses its readiness while another has no pod is one", () => {
    const { events } = new Story()
      .tell("etcd-0", {}, { gone: true })
      .tell("etcd-1", { uid: "etcd-1 old", ready: false });
    expect(outages(events, MEMBERS)).toHaveLength(1);
  });

  test("members that have no pod when the watch begins count too", () => {
    const { events } = new Story();
    expect(outages(events.slice(0, 1), MEMBERS)).toEqual([{ at: 1000, down: ["etcd-1", "etcd-2"] }]);
  });
});

describe("restarts and passes", () => {
  const walk = new Story();
  for (const name of ["etcd-2", "etcd-0", "etcd-1"]) walk.restart(name, "r2");
  for (const name of ["etcd-2", "etcd-1", "etcd-0"]) walk.restart(name, "r3", `${name} r2`);

  test("are found in order, with the time away", () => {
    const found = restarts(walk.events);
    expect(found.map((restart) => restart.member)).toEqual([
      "etcd-2",
      "etcd-0",
      "etcd-1",
      "etcd-2",
      "etcd-1",
      "etcd-0",
    ]);
    expect(found[0]).toEqual({ member: "etcd-2", downAt: 4000, readyAt: 7000, revision: "r2" });
  });

  test("each revision is a pass", () => {
    const found = passes(restarts(walk.events));
    expect(found.map(({ revision, restarts: all }) => [revision, all.length])).toEqual([
      ["r2", 3],
      ["r3", 3],
    ]);
  });

  test("the pods that the watch began with are no restarts, and a pod that never got ready has no end", () => {
    const story = new Story();
    expect(restarts(story.events)).toEqual([]);
    story.tell("etcd-1", {}, { gone: true }).tell("etcd-1", { uid: "new" });
    expect(restarts(story.events)).toEqual([{ member: "etcd-1", downAt: 4000, revision: "r1" }]);
  });
});

describe("Secrets deleted under pods", () => {
  const mounting = () => new Story().tell("etcd-0", { uid: "tls", ready: true, secrets: ["etcd-server-cert"] });
  const deletion = (version: number) => [{ at: version, version, name: "etcd-server-cert" }];

  test("are found while a pod that mounts them is there", () => {
    const { events } = mounting();
    expect(deletedUnderPods(deletion(5000), events)).toEqual(["etcd-server-cert was deleted while etcd-0 mounted it"]);
  });

  test("are none once that pod is gone, or before it was made", () => {
    const { events } = mounting().tell("etcd-0", { uid: "tls", secrets: ["etcd-server-cert"] }, { gone: true });
    expect(deletedUnderPods(deletion(9000), events)).toEqual([]);
    expect(deletedUnderPods(deletion(3500), events)).toEqual([]);
  });
});
