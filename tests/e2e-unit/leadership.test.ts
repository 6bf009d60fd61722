import { electionsBetween, leaderAt, leaderships, parseSamples } from "../e2e/harness/leadership";

const IDS: Record<string, string> = { "etcd-0": "a", "etcd-1": "b", "etcd-2": "c" };

function sample(at: number, member: string, leader: string | undefined, term: number) {
  return { at, member, id: IDS[member]!, leader: leader ? IDS[leader]! : "0", term };
}

const samples = [
  sample(100, "etcd-0", "etcd-1", 3),
  sample(110, "etcd-1", "etcd-1", 3),
  sample(120, "etcd-2", "etcd-1", 3),
  sample(500, "etcd-2", undefined, 4),
  sample(560, "etcd-2", "etcd-0", 4),
  sample(530, "etcd-0", "etcd-0", 4),
  sample(900, "etcd-2", "etcd-0", 6),
];

test("each term has its leader, by name, from when it was first seen", () => {
  expect(leaderships(samples)).toEqual([
    { at: 100, until: 100, term: 3, leader: "etcd-1" },
    { at: 530, until: 530, term: 4, leader: "etcd-0" },
    { at: 900, until: 900, term: 6, leader: "etcd-0" },
  ]);
});

test("an election ends no earlier than somebody was asked who had not heard of it, unless that was cut off", () => {
  const late = [...samples.slice(0, 3), sample(300, "etcd-0", "etcd-0", 4), sample(420, "etcd-1", "etcd-1", 3)];
  expect(leaderships(late).at(-1)).toMatchObject({ at: 300, until: 420 });
  expect(leaderships([...late, sample(2000, "etcd-2", "etcd-1", 3)]).at(-1)).toMatchObject({ at: 300, until: 420 });
});

test("says who led at a time", () => {
  const all = leaderships(samples);
  expect(leaderAt(all, 50)).toBeUndefined();
  expect(leaderAt(all, 529)).toBe("etcd-1");
  expect(leaderAt(all, 530)).toBe("etcd-0");
});

test("counts elections, also those that the same member wins again, and not the first leader that is seen", () => {
  const all = leaderships(samples);
  expect(electionsBetween(all, 0, 529)).toEqual([]);
  expect(electionsBetween(all, 0, 530)).toHaveLength(1);
  expect(electionsBetween(all, 0, 1000)).toHaveLength(2);
});

test("a last line that is cut short is passed over", () => {
  expect(parseSamples(`${JSON.stringify(samples[0])}\n{"at":1`)).toEqual([samples[0]]);
});
