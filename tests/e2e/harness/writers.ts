import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EtcdUser, RetryPolicy, Scheme, WriterConfig } from "../writer/config";
import type { WriteEvent, WriterSummary } from "../writer/ledger";
import { BackgroundCommand, eventually, tail } from "./command";
import type { CredentialFiles } from "./credentials";
import { type Environment, repository } from "./environment";
import { etcdWriter } from "./etcd-writer";
import { type LeaderSample, parseSamples } from "./leadership";

/** Longest run; a backstop for a suite that was killed. */
const MAX_SECONDS = 15 * 60;
const WRITES_PER_SECOND = 40;

/** Node's etcd3 as it is used with care: attempts of a second, repeated for ten. */
export const RETRIES: RetryPolicy = { attemptMs: 1000, pauseMs: 50, overallMs: 10_000, eitherScheme: false };

export interface ClientSettings {
  members: { name: string; address: string }[];
  credentials: CredentialFiles;
  /** As whom they come where etcd's authentication is on. */
  user?: EtcdUser;
  start: Scheme;
  destination: Scheme;
  retry: RetryPolicy;
}

export interface WriterResult extends WriterSummary {
  name: "go" | "node";
  prefix: string;
  acknowledgedKeys: string[];
  failures: WriteEvent[];
}

/** The clients that are at work while a change is carried out: two writers, and one that asks who leads. */
export class Clients {
  readonly #environment: Environment;
  readonly #settings: ClientSettings;
  readonly #folder: string;
  readonly #runFile: string;
  readonly #prefix: string;
  #commands: { go: BackgroundCommand; node: BackgroundCommand; leader: BackgroundCommand } | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(environment: Environment, settings: ClientSettings, folder: string, prefix: string) {
    this.#environment = environment;
    this.#settings = settings;
    this.#folder = folder;
    this.#runFile = join(folder, "run");
    this.#prefix = prefix;
  }

  /** Starts them, and waits until both writers have written. */
  async start(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#runFile, "");
    this.#heartbeat = setInterval(() => utimesSync(this.#runFile, new Date(), new Date()), 3000);
    this.#heartbeat.unref();
    const tsNode = require.resolve("ts-node/register/transpile-only");
    const main = join(repository, "tests", "e2e", "writer", "main.ts");
    this.#commands = {
      go: this.#run("go", [etcdWriter, "write", this.#configure("go")]),
      node: this.#run("node", [process.execPath, "-r", tsNode, main, this.#configure("node")]),
      leader: this.#run("leader", [etcdWriter, "leader", this.#configure("leader")]),
    };
    for (const name of ["go", "node", "leader"] as const) {
      await eventually(`the ${name} client to be at work`, 30_000, () => this.#atWork(name));
    }
  }

  async stop(): Promise<{ writers: WriterResult[]; samples: LeaderSample[] }> {
    const commands = await this.#end();
    for (const [name, command] of Object.entries(commands)) {
      if (command.code !== 0) throw new Error(`the ${name} client ended with ${command.code}: ${tail(command.output)}`);
    }
    return {
      writers: [this.#result("go"), this.#result("node")],
      samples: parseSamples(readFileSync(this.#file("leader", "log"), "utf8")),
    };
  }

  /** Ends them whatever state they are in; for use after something else failed. */
  async abandon(): Promise<void> {
    if (this.#commands) await this.#end();
  }

  async #end() {
    clearInterval(this.#heartbeat);
    rmSync(this.#runFile, { force: true });
    if (!this.#commands) throw new Error("the clients were not started");
    // A write on its way may take all the time that its retries have.
    const graceMs = this.#settings.retry.overallMs + 15_000;
    await Promise.all(Object.values(this.#commands).map((command) => command.end(graceMs)));
    return this.#commands;
  }

  #run(name: string, command: string[]): BackgroundCommand {
    const compilerOptions = JSON.stringify({ module: "commonjs", moduleResolution: "node10" });
    const env = { ...this.#environment.variables, TS_NODE_COMPILER_OPTIONS: compilerOptions };
    return new BackgroundCommand([...this.#environment.inNetwork, ...command], env, this.#file(name, "output"));
  }

  #configure(name: string): string {
    const config: WriterConfig = {
      ...this.#settings,
      prefix: `${this.#prefix}${name}/`,
      ratePerSecond: WRITES_PER_SECOND,
      log: this.#file(name, "log"),
      summary: this.#file(name, "summary"),
      runFile: this.#runFile,
      maxSeconds: MAX_SECONDS,
    };
    const path = this.#file(name, "json");
    writeFileSync(path, JSON.stringify(config, undefined, 2));
    return path;
  }

  #file(name: string, extension: string): string {
    return join(this.#folder, `${name}.${extension}`);
  }

  #atWork(name: "go" | "node" | "leader"): true | undefined {
    const command = this.#commands?.[name];
    if (command?.code !== undefined) {
      throw new Error(`it ended with ${command.code}: ${tail(command.output)}`);
    }
    const log = this.#file(name, "log");
    return existsSync(log) && statSync(log).size > 0 ? true : undefined;
  }

  #result(name: "go" | "node"): WriterResult {
    const summary = JSON.parse(readFileSync(this.#file(name, "summary"), "utf8")) as WriterSummary;
    const events = readFileSync(this.#file(name, "log"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith('{"key"'))
      .map((line) => JSON.parse(line) as WriteEvent);
    const acknowledgedKeys = events.filter((event) => event.ok).map((event) => event.key);
    const failures = events.filter((event) => !event.ok);
    if (acknowledgedKeys.length !== summary.acknowledged) {
      throw new Error(`${name}: the log has ${acknowledgedKeys.length} writes, the summary ${summary.acknowledged}`);
    }
    return { ...summary, name, prefix: `${this.#prefix}${name}/`, acknowledgedKeys, failures };
  }
}
