import { type BackgroundCommand, sleep, tail } from "./command";
import { doneSteps, toldLines } from "./plan-lines";
import { descendants, identify, isAlive, type RunningProcess, signal } from "./processes";

/** Longest that a moment of an update is waited for, and longest that one may take in whole, in milliseconds. */
const MOMENT_DEADLINE_MS = 180_000;
const END_DEADLINE_MS = 6 * 60_000;

/** How the script that Pulumi runs dynamic providers with shows in a list of processes. */
const PROVIDER = /dynamic-provider/;

/** A `pulumi up` that is on its way, and what can be done to it. */
export class Update {
  #left: RunningProcess[] = [];

  constructor(private readonly command: BackgroundCommand) {}

  get printed(): string {
    return this.command.output;
  }

  /** Exit code, once it has ended. */
  get code(): number | undefined {
    return this.command.code;
  }

  /** The steps that it has told of as done. */
  get steps(): string[] {
    return doneSteps(this.printed);
  }

  /** Waits until it has told a line of its steps that is like this; returns the line. */
  said(what: RegExp): Promise<string> {
    return this.#moment(`${what} to be told`, () => toldLines(this.printed).find((line) => what.test(line)));
  }

  /** Waits until so many steps are done; undefined where the update ended, successfully, with fewer. */
  async stepsDone(count: number): Promise<string | undefined> {
    await this.#moment(`step ${count}`, () => (this.steps.length >= count || this.code === 0 ? true : undefined));
    return this.steps[count - 1];
  }

  /** Kills the CLI at once, and nothing else: plugins and providers see that it is gone, or they don't. */
  killCli(): void {
    this.#left = this.#started();
    signal(this.#cli(), "SIGKILL");
  }

  /** Kills the process that runs the engine, and nothing else. */
  killProvider(): void {
    const [provider] = this.#started().filter(({ command }) => /^\S*node\b/.test(command) && PROVIDER.test(command));
    if (!provider) throw new Error(`no provider process was found among ${JSON.stringify(this.#started())}`);
    signal(provider, "SIGKILL");
  }

  /** What Ctrl-C does. */
  interrupt(): void {
    signal(this.#cli(), "SIGINT");
  }

  /** Waits for its end; what it printed is looked at by whoever asks. */
  async end(): Promise<number> {
    return this.command.end(END_DEADLINE_MS);
  }

  /** Waits for its end, which must be a good one. */
  async succeed(): Promise<void> {
    const code = await this.end();
    if (code !== 0) throw new Error(`pulumi up ended with code ${code}:\n${tail(this.printed)}`);
  }

  /** Waits for its end, which must not be a good one; returns what it printed. */
  async fail(): Promise<string> {
    const code = await this.end();
    if (code === 0) throw new Error(`pulumi up was expected to fail, but passed:\n${tail(this.printed)}`);
    return this.printed;
  }

  /** Provider processes of a killed CLI that are still there after some time: they must end by themselves. */
  async survivors(withinMs: number): Promise<string[]> {
    const alive = () => this.#left.filter(({ command }) => PROVIDER.test(command)).filter(isAlive);
    for (const end = Date.now() + withinMs; alive().length > 0 && Date.now() < end; ) await sleep(200);
    return alive().map(({ command }) => command);
  }

  /** Whatever a killed CLI left behind. */
  sweep(): void {
    for (const process of this.#left) signal(process, "SIGKILL");
    this.command.kill();
  }

  #cli(): RunningProcess {
    const found = this.command.pid === undefined ? undefined : identify(this.command.pid);
    if (!found) throw new Error(`pulumi up has ended already:\n${tail(this.printed)}`);
    return found;
  }

  #started(): RunningProcess[] {
    return descendants(this.#cli().pid);
  }

  async #moment<T>(what: string, look: () => T | undefined): Promise<T> {
    for (const end = Date.now() + MOMENT_DEADLINE_MS; ; await sleep(20)) {
      const ended = this.code !== undefined;
      const found = look();
      if (found !== undefined) return found;
      if (!ended && Date.now() < end) continue;
      throw new Error(
        `pulumi up ${ended ? "ended" : "was awaited in vain"} before ${what}:\n${tail(this.printed, 80)}`,
      );
    }
  }
}
