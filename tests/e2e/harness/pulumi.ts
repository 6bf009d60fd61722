import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BackgroundCommand, type CommandResult, runCommand, tail } from "./command";
import { type Environment, repository } from "./environment";
import { Update } from "./update";

/** Longest that one `pulumi up` or `destroy` may take, in milliseconds. */
const UPDATE_TIMEOUT_MS = 8 * 60_000;
const PREVIEW_TIMEOUT_MS = 3 * 60_000;
const SHORT_TIMEOUT_MS = 60_000;

/** Commands whose output people keep, in logs of CI and elsewhere. */
const UPDATES = ["preview", "up", "destroy"];

export interface PreviewOptions {
  diff?: boolean;
  expectNoChanges?: boolean;
  /** Variables that differ from the suite's. */
  env?: NodeJS.ProcessEnv;
}

/** A command of the Pulumi CLI that failed, with the end of what it printed. */
export class PulumiError extends Error {
  constructor(
    command: string[],
    readonly result: CommandResult,
  ) {
    super(`${command.join(" ")} ended with code ${result.code}:\n${diagnosis(`${result.stdout}\n${result.stderr}`)}`);
  }
}

interface State {
  deployment: { resources: { urn: string; outputs?: Record<string, unknown> }[] };
}

/** Why it failed: after that come the differences of the outputs, which may be long. */
function diagnosis(printed: string): string {
  const found = /^Diagnostics:$[\s\S]*?(?=^(Outputs|Resources):$|(?![\s\S]))/m.exec(printed);
  return tail(found?.[0] ?? printed);
}

/**
 * A stack of the project in this repository, driven by the `pulumi` command as its users drive it. Its settings are
 * kept in a file elsewhere, so that nothing appears in the repository.
 */
export class PulumiStack {
  readonly #configFile: string;
  #printed = "";
  readonly #started: Update[] = [];

  private constructor(
    private readonly environment: Environment,
    readonly name: string,
    folder: string,
  ) {
    this.#configFile = join(folder, `Pulumi.${name}.yaml`);
  }

  static async create(environment: Environment, name: string, folder: string): Promise<PulumiStack> {
    mkdirSync(folder, { recursive: true });
    const stack = new PulumiStack(environment, name, folder);
    await stack.#run(["stack", "init", name, "--no-select"], SHORT_TIMEOUT_MS);
    // `stack init` knows no --config-file: what it wrote (the salt of the stack's secrets) is moved.
    const written = join(repository, "stacks", `Pulumi.${name}.yaml`);
    if (existsSync(written)) renameSync(written, stack.#configFile);
    else writeFileSync(stack.#configFile, "config: {}\n");
    return stack;
  }

  /** `pulumi config set --path`, for each of them. */
  async set(values: Record<string, string>): Promise<void> {
    const pairs = Object.entries(values).flatMap(([path, value]) => ["--plaintext", `${path}=${value}`]);
    await this.#run(["config", "set-all", "--path", ...pairs, ...this.#where()], SHORT_TIMEOUT_MS);
  }

  async unset(path: string): Promise<void> {
    await this.#run(["config", "rm", "--path", path, ...this.#where()], SHORT_TIMEOUT_MS);
  }

  /** Whether anything is set under a key. */
  async has(key: string): Promise<boolean> {
    return new RegExp(`^\\s+${key}:`, "m").test(this.saveConfig());
  }

  /** The settings as they are, to be put back later. */
  saveConfig(): string {
    return readFileSync(this.#configFile, "utf8");
  }

  restoreConfig(saved: string): void {
    writeFileSync(this.#configFile, saved);
  }

  async preview(options: PreviewOptions = {}): Promise<CommandResult> {
    const { command, result } = await this.#preview(options);
    if (result.code !== 0) throw new PulumiError(command, result);
    return result;
  }

  /** A preview that must be refused; returns everything that it printed. */
  async previewRefused(env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { command, result } = await this.#preview({ env });
    const printed = `${result.stdout}\n${result.stderr}`;
    if (result.code === 0) throw new Error(`${command.join(" ")} was expected to be refused, but passed:\n${printed}`);
    return printed;
  }

  /** An update that must fail, whatever preview would say of it; returns everything that it printed. */
  async upRefused(): Promise<string> {
    const { stdout, stderr } = await this.up({ skipPreview: true }).then(
      () => {
        throw new Error("pulumi up was expected to fail, but went through");
      },
      (error: Error) => {
        if (error instanceof PulumiError) return error.result;
        throw error;
      },
    );
    return `${stdout}\n${stderr}`;
  }

  up(options: { skipPreview?: boolean; expectNoChanges?: boolean; target?: string } = {}): Promise<CommandResult> {
    const flags = [
      "--yes",
      "--suppress-progress",
      ...(options.skipPreview ? ["--skip-preview"] : []),
      ...(options.expectNoChanges ? ["--expect-no-changes"] : []),
      ...(options.target ? ["--target", options.target] : []),
    ];
    return this.#run(["up", ...flags, ...this.#where()], UPDATE_TIMEOUT_MS);
  }

  /** An update that runs beside the test. Where two programs share a log, their lines would mix: each has its own. */
  startUp(logFile: string): Update {
    const command = ["pulumi", "up", "--yes", "--suppress-progress", "--skip-preview", ...this.#where()];
    command.push("--non-interactive", "--color", "never");
    const update = new Update(new BackgroundCommand(command, this.environment.variables, logFile, repository));
    this.#started.push(update);
    return update;
  }

  /** After an update was killed: its lock is still there. */
  async cancel(): Promise<void> {
    await this.#run(["cancel", "--yes", "--stack", this.name], SHORT_TIMEOUT_MS);
  }

  /** Puts the state of another stack in the place of this one's. */
  async importState(file: string): Promise<void> {
    await this.#run(["stack", "import", "--file", file, "--stack", this.name], SHORT_TIMEOUT_MS);
  }

  destroy(): Promise<CommandResult> {
    return this.#run(["destroy", "--yes", "--suppress-progress", ...this.#where()], UPDATE_TIMEOUT_MS);
  }

  async outputs<T>(): Promise<T> {
    const command = ["stack", "output", "--json", "--stack", this.name];
    return JSON.parse((await this.#run(command, SHORT_TIMEOUT_MS)).stdout) as T;
  }

  /** The state as it is stored: secrets stay encrypted. */
  async exportState(): Promise<string> {
    return (await this.#run(["stack", "export", "--stack", this.name], SHORT_TIMEOUT_MS)).stdout;
  }

  /** An output that the state keeps as a secret, decrypted. */
  async revealed(type: string, name: string, output: string): Promise<string> {
    const { stdout } = await this.#run(["stack", "export", "--show-secrets", "--stack", this.name], SHORT_TIMEOUT_MS);
    const { deployment } = JSON.parse(stdout) as State;
    const found = deployment.resources.find(({ urn }) => urn.includes(`:${type}::`) && urn.endsWith(`::${name}`));
    const { plaintext } = (found?.outputs?.[output] ?? {}) as { plaintext?: string };
    if (!plaintext) throw new Error(`the state has no secret output ${output} of ${type} ${name}`);
    return JSON.parse(plaintext) as string;
  }

  /** Everything that its previews and updates have printed so far. */
  get printed(): string {
    return [this.#printed, ...this.#started.map((update) => update.printed)].join("\n");
  }

  async resourceCount(): Promise<number> {
    const state = JSON.parse(await this.exportState()) as { deployment: { resources?: unknown[] } };
    return state.deployment.resources?.length ?? 0;
  }

  async remove(): Promise<void> {
    const command = ["stack", "rm", "--yes", "--force", "--preserve-config", "--stack", this.name];
    await this.#run(command, SHORT_TIMEOUT_MS);
    rmSync(this.#configFile, { force: true });
  }

  async #preview(options: PreviewOptions): Promise<{ command: string[]; result: CommandResult }> {
    const flags = [
      ...(options.diff ? ["--diff"] : []),
      ...(options.expectNoChanges ? ["--expect-no-changes"] : []),
      "--suppress-progress",
    ];
    const command = ["pulumi", "preview", ...flags, ...this.#where(), "--non-interactive", "--color", "never"];
    return { command, result: await this.#exec(command, PREVIEW_TIMEOUT_MS, options.env) };
  }

  #where(): string[] {
    return ["--stack", this.name, "--config-file", this.#configFile];
  }

  async #run(args: string[], timeoutMs: number): Promise<CommandResult> {
    const command = ["pulumi", ...args, "--non-interactive", "--color", "never"];
    const result = await this.#exec(command, timeoutMs);
    if (result.code !== 0) throw new PulumiError(command, result);
    return result;
  }

  async #exec(command: string[], timeoutMs: number, env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
    const variables = { ...this.environment.variables, ...env };
    const result = await runCommand(command, { cwd: repository, env: variables, timeoutMs });
    if (UPDATES.includes(command[1] ?? "")) this.#printed += `${result.stdout}\n${result.stderr}\n`;
    return result;
  }
}
