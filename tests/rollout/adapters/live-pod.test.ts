import { livePod, type PodObject, podTrouble } from "../../../rollout/adapters/live-pod";

function pod(status: PodObject["status"], metadata: Partial<PodObject["metadata"]> = {}): PodObject {
  return { metadata: { name: "etcd-1", uid: "u", ...metadata }, status };
}

const container = { name: "etcd", ready: false };

test.each<[string, PodObject["status"], string | undefined]>([
  ["a ready pod", { conditions: [{ type: "Ready", status: "True" }] }, undefined],
  ["a pod in its first moments", { phase: "Pending" }, undefined],
  [
    "no node",
    { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }] },
    "Unschedulable: 0/3 nodes",
  ],
  [
    "no image",
    { containerStatuses: [{ ...container, state: { waiting: { reason: "ImagePullBackOff", message: "back-off" } } }] },
    "ImagePullBackOff: back-off",
  ],
  [
    "an etcd that ends",
    {
      containerStatuses: [
        {
          ...container,
          state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } },
          lastState: { terminated: { exitCode: 1, reason: "Error", message: "open /tls/ca.crt: no such file\n" } },
        },
      ],
    },
    "CrashLoopBackOff: back-off 10s; it last ended with exit code 1: open /tls/ca.crt: no such file",
  ],
  [
    "a container that was killed",
    { containerStatuses: [{ ...container, state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }] },
    "OOMKilled: container etcd ended with exit code 137",
  ],
  ["an evicted pod", { phase: "Failed", reason: "Evicted", message: "low on memory" }, "Evicted: low on memory"],
  [
    "a failing startup probe",
    { containerStatuses: [{ ...container, started: false, state: { running: {} } }] },
    "ContainersNotReady: container etcd runs, its startup probe has not succeeded yet",
  ],
  [
    "a failing readiness probe",
    { containerStatuses: [{ ...container, started: true, state: { running: {} } }] },
    "ContainersNotReady: container etcd runs, its readiness probe has not succeeded yet",
  ],
  [
    "volumes being mounted",
    { containerStatuses: [{ ...container, state: { waiting: { reason: "ContainerCreating" } } }] },
    undefined,
  ],
])("%s", (_, status, trouble) => {
  expect(podTrouble(pod(status))).toBe(trouble);
});

function ended(message: string): string | undefined {
  const lastState = { terminated: { exitCode: 1, reason: "Error", message } };
  const state = { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } };
  return podTrouble(pod({ containerStatuses: [{ ...container, state, lastState }] }));
}

const line = (level: string, msg: string, more = {}) => JSON.stringify({ level, ts: "t", msg, ...more });

test("of etcd's log, what it ended of is told, and not the rest", () => {
  const log = [
    '"stacktrace":"cut"}',
    line("error", "bootstrap failed", { error: "first" }),
    line("info", "closing etcd server"),
    line("fatal", "discovery failed", { error: "permission denied", stacktrace: "main.main\n" }),
    "",
  ].join("\n");
  expect(ended(log)).toBe(
    "CrashLoopBackOff: back-off 10s; it last ended with exit code 1: discovery failed: permission denied",
  );
});

test("of a panic its line is told, and not the stack", () => {
  const log = [
    'raft/v3@v3.6.0/node.go:399"}',
    "panic: tocommit(7823) is out of range [lastIndex(3)]. Was the raft log corrupted, truncated, or lost?",
    "",
    "goroutine 48 [running]:",
    "go.uber.org/zap/zapcore.CheckWriteAction.OnWrite(0x0?, 0x1702a475c0c0?)",
  ].join("\n");
  expect(ended(log)).toMatch(/ended with exit code 1: panic: tocommit\(7823\) is out of range [^\n]*lost\?$/);
});

test("a pod that is being deleted is neither ready nor in trouble", () => {
  const live = livePod(
    pod({ conditions: [{ type: "Ready", status: "True" }] }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  );
  expect(live).toMatchObject({ ordinal: 1, ready: false, terminating: true });
  expect(live.trouble).toBeUndefined();
});
