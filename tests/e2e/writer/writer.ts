import { setTimeout as sleep } from "node:timers/promises";
import type { Scheme, WriterConfig } from "./config";
import { Ledger } from "./ledger";
import { accepts, Link, stamp } from "./link";
import { retrying } from "./retry";

const clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep: (ms: number) => sleep(ms) };

/** Writes unique keys at a steady rate until told to end, and changes scheme as clients do during a bridge. */
export class Writer {
  readonly #ledger: Ledger;
  readonly #stamp: string;
  #link: Link;
  /** The way that retries may take besides; made when it is first wanted. */
  #other: Link | undefined;
  #stopped = false;

  constructor(private readonly config: WriterConfig) {
    this.#ledger = new Ledger(config.log, config.summary);
    this.#stamp = stamp(config.credentials);
    this.#link = new Link(config, config.start);
  }

  stop(): void {
    this.#stopped = true;
  }

  async run(): Promise<void> {
    const besides = this.#besides();
    await this.#writeSteadily();
    await besides;
    await Promise.all([this.#link.close(), this.#other?.close()]);
    await this.#ledger.close();
  }

  #besides(): Promise<void> | undefined {
    const { start, destination } = this.config;
    if (start !== destination) return this.#moveWhenAccepted();
    return start === "https" ? this.#reloadWhenChanged() : undefined;
  }

  /** Starts a write when its time has come, whatever became of those before: a stall shows in full. */
  async #writeSteadily(): Promise<void> {
    const interval = 1000 / this.config.ratePerSecond;
    const started = Date.now();
    const writes = new Set<Promise<void>>();
    for (let number = 0; !this.#stopped; number++) {
      await sleep(Math.max(0, started + number * interval - Date.now()));
      const write = this.#write(`${this.config.prefix}${String(number).padStart(8, "0")}`);
      writes.add(write);
      void write.then(() => writes.delete(write));
    }
    await Promise.all(writes);
  }

  async #write(key: string): Promise<void> {
    const at = Date.now();
    const started = performance.now();
    let scheme = this.#link.scheme;
    const { ok, attempts, error } = await retrying(this.config.retry, clock, (number, deadlineMs) => {
      const link = this.#linkFor(number);
      scheme = link.scheme;
      return link.put(key, key, deadlineMs).catch((failure: Error) => {
        this.#ledger.attemptFailed(failure.message);
        throw failure;
      });
    });
    const ms = Math.round((performance.now() - started) * 10) / 10;
    this.#ledger.record({ key, at, ms, scheme, ok, attempts, ...(error !== undefined && { error }) });
  }

  #linkFor(attempt: number): Link {
    if (!this.config.retry.eitherScheme || attempt % 2 === 0) return this.#link;
    const scheme = otherScheme(this.#link.scheme);
    if (this.#other?.scheme !== scheme) {
      const old = this.#other;
      // Throws while the credentials are not there yet: a failed attempt like any other.
      this.#other = new Link(this.config, scheme);
      void old?.close();
    }
    return this.#other;
  }

  async #moveWhenAccepted(): Promise<void> {
    const { destination } = this.config;
    while (!this.#stopped) {
      if (await this.#allAccept(destination)) {
        await this.#replaceLink(new Link(this.config, destination), () => this.#ledger.switched(destination));
        return;
      }
      await sleep(200);
    }
  }

  /** Makes the client anew whenever its files have changed, as clients do that watch what they mount. */
  async #reloadWhenChanged(): Promise<void> {
    let known = this.#stamp;
    while (!this.#stopped) {
      await sleep(100);
      const latest = stamp(this.config.credentials);
      if (latest === known) continue;
      try {
        await this.#replaceLink(new Link(this.config, "https"), () => this.#ledger.reloaded());
        known = latest;
      } catch {
        // One file of a pair has been replaced and the other not yet.
      }
    }
  }

  async #replaceLink(next: Link, done: () => void): Promise<void> {
    const old = this.#link;
    this.#link = next;
    done();
    await old.close();
  }

  async #allAccept(scheme: Scheme): Promise<boolean> {
    for (const member of this.config.members) {
      if (!(await accepts(this.config, member, scheme))) return false;
    }
    return true;
  }
}

function otherScheme(scheme: Scheme): Scheme {
  return scheme === "http" ? "https" : "http";
}
