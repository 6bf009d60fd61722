import { carryOut } from "../../rollout";
import { withAdvice } from "../../rollout/lost-data";
import type { LivePod, Ports } from "../../rollout/ports";
import { OWNER, plainSpec, Scenario } from "./world";
import { override } from "./world/override";

test.each([
  "discovery failed: member a023d910eeb241cb has already been bootstrapped",
  "panic: tocommit(7823) is out of range [lastIndex(3)]. Was the raft log corrupted, truncated, or lost?",
])("of a member whose data is gone it is told what to do: %s", (trouble) => {
  expect(withAdvice(trouble)).toMatch(
    /; its data is gone.*etcdctl member remove.*--initial-cluster-state=existing and the --initial-cluster/,
  );
});

test.each([
  [
    "panic: unmarshal should never fail (proto: cannot parse invalid wire-format data) [recovered]",
    /back to 3\.6 and update/,
  ],
  [
    "panic: detected disallowed v2 WAL for stage --v2-deprecation=write-only",
    /back to 3\.5, and see `etcdutl check v2store`/,
  ],
  [
    "illegal v2store content: detected disallowed custom content in v2store for stage",
    /etcd 3\.6 does not start on it/,
  ],
  ["invalid downgrade; server version is lower than determined cluster version", /the cluster speaks a newer release/],
])("of data of another release, too: %s", (trouble, advice) => {
  expect(withAdvice(trouble)).toMatch(advice);
});

test("of another trouble nothing is", () => {
  expect(withAdvice("ImagePullBackOff: no such image")).toBe("ImagePullBackOff: no such image");
});

describe("a member that does not get ready", () => {
  const at = (restart?: string) => plainSpec(3, { rollout: { stepTimeout: "5s", ...(restart && { restart }) } });

  /** What a walk says whose first pod stays unready; `answer` is who that member says that it is. */
  async function failure(answer: (original: () => Promise<string>) => Promise<string>): Promise<string> {
    const scenario = new Scenario(at());
    await scenario.until(at());
    const known = new Set(scenario.world.pods.map(({ uid }) => uid));
    const unready = ({ uid }: LivePod) => !known.has(uid);
    const isNew = (pod: string) => scenario.world.pods.some(({ name, uid }) => name === pod && !known.has(uid));
    const without = ({ kube, etcd, ...others }: Ports): Ports => ({
      ...others,
      kube: override(kube, {
        pods: async (spec) => (await kube.pods(spec)).map((pod) => (unready(pod) ? { ...pod, ready: false } : pod)),
      }),
      etcd: override(etcd, {
        identity: async (address, deadlineMs) =>
          isNew(address.pod) ? answer(() => etcd.identity(address, deadlineMs)) : etcd.identity(address, deadlineMs),
      }),
    });
    return scenario.faults
      .run((ports) => carryOut(without(ports), { spec: at("now"), owner: OWNER }, at()))
      .then(
        () => "done",
        (error: Error) => error.message,
      );
  }

  test("but answers as a member of no cluster that is known has lost its data", async () => {
    const message = await failure(async () => "feed");
    expect(message).toMatch(
      /^waited 5 s for db-[012] to be ready: its pod is not ready; it has begun a cluster of its/,
    );
    expect(message).toContain("its data is gone");
  });

  test("and answers as the member that it is has another trouble", async () => {
    expect(await failure((original) => original())).toMatch(
      /^waited 5 s for db-[012] to be ready: its pod is not ready$/,
    );
  });

  test("and does not answer has another trouble", async () => {
    const silent = async () => Promise.reject(new Error("no connection"));
    expect(await failure(silent)).toMatch(/^waited 5 s for db-[012] to be ready: its pod is not ready$/);
  });
});
