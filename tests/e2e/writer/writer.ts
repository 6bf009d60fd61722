import { setTimeout as sleep } from "node:timers/promises";
import type { Scheme, WriterConfig } from "./config";
import { Ledger } from "./ledger";
import { accepts, Link } from "./link";
import { retrying } from "./retry";

const clock = { now: () => Date.now(), sleep: (ms: number) => sleep(ms) };

/** Writes unique keys at a steady rate until told to end, and changes scheme as clients do during a bridge. */
export class Writer {
  readonly #ledger: Ledger;
  #link: Link;
  /** The way that retries may take besides; made when it is first wanted. */
  #other: Link | undefined;
  #stopped = false;

  constructor(private readonly config: WriterConfig) {
    this.#ledger = new Ledger(config.log, config.summary);
    this.#link = new Link(config, config.start);
  }

  stop(): void {
    this.#stopped = true;
  }

  async run(): Promise<void> {
    const moving = this.config.start === this.config.destination ? undefined : this.#moveWhenAccepted();
    await this.#writeSteadily();
    await moving;
    await Promise.all([this.#link.close(), this.#other?.close()]);
    await this.#ledger.close();
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
      return link.put(key, key, deadlineMs);
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
        const old = this.#link;
        this.#link = new Link(this.config, destination);
        this.#ledger.switched(destination);
        await old.close();
        return;
      }
      await sleep(200);
    }
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
