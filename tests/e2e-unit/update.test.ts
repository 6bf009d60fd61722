import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BackgroundCommand, eventually } from "../e2e/harness/command";
import { descendants, identify, isAlive, parentOf, signal } from "../e2e/harness/processes";
import { Update } from "../e2e/harness/update";

const folder = mkdtempSync(join(tmpdir(), "pulumi-etcd-update-"));
let started: BackgroundCommand[] = [];
let count = 0;

afterEach(() => {
  for (const command of started) command.kill();
  started = [];
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(script: string): BackgroundCommand {
  const command = new BackgroundCommand(["sh", "-c", script], process.env, join(folder, `log-${++count}`));
  started.push(command);
  return command;
}

const row = (text: string) => ` ~  pulumi-nodejs:dynamic/etcd:Rollout etcd updating (1s) [diff: ~plan]; ${text}`;

test("children are found, and a signal reaches the one that is meant", async () => {
  const command = run("sleep 61 & sleep 62 & wait");
  const sleeping = (seconds: string) =>
    descendants(command.pid ?? 0).find((each) => each.command === `sleep ${seconds}`);
  const first = await eventually("the first child", 5000, () => sleeping("61"));
  const second = await eventually("the second child", 5000, () => sleeping("62"));
  expect(parentOf(first)).toMatchObject({ pid: command.pid });
  signal(first, "SIGKILL");
  await eventually("it to be gone", 5000, () => (isAlive(first) ? undefined : true));
  expect(isAlive(second)).toBe(true);
  expect(command.code).toBeUndefined();
});

test("a process id with another start time is another process", () => {
  const own = identify(process.pid);
  expect(own && isAlive(own)).toBe(true);
  expect(isAlive({ pid: process.pid, startTime: "1" })).toBe(false);
});

test("a moment of an update is awaited, and its CLI killed there", async () => {
  const update = new Update(run(`echo '${row("pass 1/1: restart etcd-2: serving again after 1.0 s")}'; sleep 63`));
  expect(await update.said(/restart etcd-2/)).toContain("serving again");
  update.killCli();
  expect(await update.end()).toBe(137);
  update.sweep();
});

test("an update that ends before the moment is an error with what it printed", async () => {
  const update = new Update(run("echo nothing to see; exit 3"));
  await expect(update.said(/restart/)).rejects.toThrow(/ended before .*nothing to see/s);
});

test("an update with fewer steps than were to be awaited has none of that number", async () => {
  const update = new Update(run(`echo '${row("pass 1/1: restart etcd-2: serving again after 1.0 s")}'`));
  expect(await update.stepsDone(1)).toContain("restart etcd-2");
  expect(await update.stepsDone(2)).toBeUndefined();
});
