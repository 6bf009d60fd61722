import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** How a client speaks to the members. */
export interface ClientWay {
  scheme: "http" | "https";
  ca?: string;
  cert?: string;
  key?: string;
}

export interface Tally {
  acknowledged: number;
  /** Writes that no attempt within their time brought through. */
  failed: string[];
  /** Acknowledged writes that are not there in the end. */
  lost: string[];
  longestMs: number;
}

const ATTEMPT_MS = 1500;
const WRITE_MS = 20_000;

/**
 * Writes keys of its own at a steady rate, as a client does that retries: each attempt has a deadline and goes to the
 * next member, in each of the ways that the client knows.
 */
export class Writer {
  readonly #written: string[] = [];
  readonly #tally: Tally = { acknowledged: 0, failed: [], lost: [], longestMs: 0 };
  #stopped = false;
  #done: Promise<void> | undefined;

  constructor(
    private readonly addresses: string[],
    public ways: ClientWay[],
    private readonly prefix: string,
  ) {}

  start(perSecond = 10): this {
    this.#done = this.#run(1000 / perSecond);
    return this;
  }

  async #run(intervalMs: number): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let number = 0; !this.#stopped; number++) {
      writes.push(this.#write(`${this.prefix}${String(number).padStart(6, "0")}`, number));
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
    await Promise.all(writes);
  }

  async #write(key: string, number: number): Promise<void> {
    const started = Date.now();
    let why = "";
    for (let attempt = 0; Date.now() - started < WRITE_MS; attempt++) {
      const address = this.addresses[(number + attempt) % this.addresses.length]!;
      const way = this.ways[attempt % this.ways.length]!;
      try {
        await call(address, way, "put", { key: encode(key), value: encode(key) });
        this.#written.push(key);
        this.#tally.acknowledged += 1;
        this.#tally.longestMs = Math.max(this.#tally.longestMs, Date.now() - started);
        return;
      } catch (error) {
        why = (error as Error).message;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    this.#tally.failed.push(`${key}: ${why}`);
  }

  /** Ends it, and looks for everything that was acknowledged. */
  async stop(): Promise<Tally> {
    this.#stopped = true;
    await this.#done;
    const range = { key: encode(this.prefix), range_end: encode(`${this.prefix}~`), keys_only: true };
    const { kvs = [] } = await this.#ask(range);
    const found = new Set(kvs.map(({ key }) => Buffer.from(key, "base64").toString()));
    this.#tally.lost.push(...this.#written.filter((key) => !found.has(key)));
    return this.#tally;
  }

  async #ask(range: object): Promise<{ kvs?: { key: string }[] }> {
    let last: unknown;
    for (const way of this.ways) {
      try {
        return (await call(this.addresses[0]!, way, "range", range)) as { kvs?: { key: string }[] };
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }
}

/** One call of etcd's JSON gateway. */
export function call(address: string, way: ClientWay, name: "put" | "range", body: object): Promise<unknown> {
  const { scheme, ...credentials } = way;
  const send = scheme === "https" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { method: "POST", timeout: ATTEMPT_MS, agent: false, ...(scheme === "https" && credentials) };
    const outgoing = send(`${scheme}://${address}:2379/v3/kv/${name}`, options, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => {
        text += chunk;
      });
      answer.on("error", reject);
      answer.on("end", () => (answer.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text))));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify(body));
  });
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
