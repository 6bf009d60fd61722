// Process 1 of a host in the tests: does for services what their unit files say, as systemd would, and runs sshd.
// Run by node itself: `node supervisor.ts SSHD CONFIG`.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const ROOM = "/run/supervisor";
const UNITS = "/etc/systemd/system";

interface Unit {
  command: string[];
  environment: Record<string, string>;
  user: string;
  restart: string;
  restartMs: number;
}

/** Of a unit file, what is done here. */
function parse(text: string): Unit {
  const settings = text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => /^[A-Za-z]+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const last = (name: string) => settings.filter(([key]) => key === name).at(-1)?.[1] ?? "";
  const variables = settings.filter(([key]) => key === "Environment").flatMap(([, value]) => words(value));
  return {
    command: words(last("ExecStart")).map((word) => word.replaceAll("$$", "$")),
    environment: Object.fromEntries(variables.map((v) => [v.slice(0, v.indexOf("=")), v.slice(v.indexOf("=") + 1)])),
    user: last("User") || "root",
    restart: last("Restart") || "no",
    restartMs: Number(last("RestartSec") || "0.1") * 1000,
  };
}

function words(line: string): string[] {
  const found = line.match(/"(?:\\.|[^"\\])*"|\S+/g) ?? [];
  const bare = found.map((word) => (word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, "$1") : word));
  return bare.map((word) => word.replaceAll("%%", "%"));
}

function idsOf(user: string): { uid: number; gid: number } {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${user}:`));
  const [, , uid, gid] = (line ?? "").split(":");
  if (uid === undefined) throw new Error(`there is no user ${user}`);
  return { uid: Number(uid), gid: Number(gid) };
}

class Service {
  #child: ChildProcess | undefined;
  #stopping = false;
  #timer: NodeJS.Timeout | undefined;
  #state = { ActiveState: "inactive", SubState: "dead", Result: "success", ExecMainStatus: 0, NRestarts: 0, Job: 0 };

  readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.#tell();
  }

  async restart(): Promise<void> {
    this.#state.Job = 1;
    await this.stop();
    this.#state.Job = 0;
    this.start();
  }

  start(): void {
    clearTimeout(this.#timer);
    if (this.#child) return;
    const unit = parse(loaded.get(this.name) ?? "");
    const [program = "", ...args] = unit.command;
    const child = spawn(program, args, { env: unit.environment, stdio: "ignore", ...idsOf(unit.user) });
    this.#child = child;
    this.#stopping = false;
    Object.assign(this.#state, { ActiveState: "active", SubState: "running", Result: "success", ExecMainStatus: 0 });
    child.on("error", () => this.#ended(unit, 203));
    child.on("exit", (code) => this.#ended(unit, code ?? 1));
    this.#tell();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const child = this.#child;
    this.#stopping = true;
    if (child) {
      Object.assign(this.#state, { ActiveState: "deactivating", SubState: "stop-sigterm" });
      this.#tell();
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), 60_000);
      await new Promise((resolve) => child.once("exit", resolve));
      clearTimeout(kill);
    }
    Object.assign(this.#state, { ActiveState: "inactive", SubState: "dead" });
    this.#tell();
  }

  #ended(unit: Unit, status: number): void {
    if (!this.#child) return;
    this.#child = undefined;
    if (this.#stopping) return;
    const failed = status !== 0;
    Object.assign(this.#state, { Result: failed ? "exit-code" : "success", ExecMainStatus: status });
    if (failed && unit.restart === "on-failure") {
      Object.assign(this.#state, { ActiveState: "activating", SubState: "auto-restart" });
      this.#timer = setTimeout(() => {
        this.#state.NRestarts += 1;
        this.start();
      }, unit.restartMs);
    } else
      Object.assign(this.#state, { ActiveState: failed ? "failed" : "inactive", SubState: failed ? "failed" : "dead" });
    this.#tell();
  }

  #tell(): void {
    const lines = Object.entries({ ...this.#state, MainPID: this.#child?.pid ?? 0 }).map(
      ([key, value]) => `${key}=${value}`,
    );
    writeFileSync(`${ROOM}/new`, `${lines.join("\n")}\n`);
    renameSync(`${ROOM}/new`, `${ROOM}/show/${this.name}`);
  }
}

mkdirSync(`${ROOM}/show`, { recursive: true });
mkdirSync(`${ROOM}/requests`, { recursive: true });

/** What systemd has read: a file that changed afterwards counts only after daemon-reload. */
const loaded = new Map<string, string>();
const services = new Map<string, Service>();

function reload(): void {
  if (!existsSync(UNITS)) return;
  for (const name of readdirSync(UNITS).filter((each) => each.endsWith(".service"))) {
    loaded.set(name, readFileSync(`${UNITS}/${name}`, "utf8"));
  }
}

async function carryOut(verb: string, name: string): Promise<void> {
  if (verb === "daemon-reload") return reload();
  if (!loaded.has(name)) reload();
  if (!loaded.has(name)) throw new Error(`Unit ${name} not found.`);
  if (verb === "enable" || verb === "disable") return writeFileSync(`${ROOM}/${name}.${verb}d`, "");
  const service = services.get(name) ?? new Service(name);
  services.set(name, service);
  if (verb === "restart") return service.restart();
  if (verb === "stop") return service.stop();
  if (verb === "start") service.start();
}

/** Requests are files `ID` with a verb and a unit; the answer is a file `ID.done`. */
async function answer(id: string): Promise<void> {
  const file = `${ROOM}/requests/${id}`;
  const [verb = "", unit = "", noBlock] = readFileSync(file, "utf8").trim().split(" ");
  rmSync(file);
  const done = carryOut(verb, unit).then(
    () => "",
    (error: Error) => error.message,
  );
  const result = noBlock ? "" : await done;
  writeFileSync(`${file}.new`, result);
  renameSync(`${file}.new`, `${file}.done`);
}

setInterval(() => {
  for (const id of readdirSync(`${ROOM}/requests`)) if (/^\d+$/.test(id)) void answer(id);
}, 20);

// The pipe from the test ends with the test, however that ends: a host must not outlive it.
process.stdin.on("end", () => process.exit()).resume();

const [sshd = "", config = ""] = process.argv.slice(2);
spawn(sshd, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "inherit"] });
writeFileSync(`${ROOM}/up`, "");
