import { createWriteStream, renameSync, type WriteStream, writeFileSync } from "node:fs";
import type { Scheme } from "./config";

/** One write, as the log has it. */
export interface WriteEvent {
  key: string;
  /** When it was started, in milliseconds since the epoch. */
  at: number;
  /** From its start until it was acknowledged or given up. */
  ms: number;
  scheme: Scheme;
  ok: boolean;
  attempts?: number;
  error?: string;
}

/** What a run comes to. */
export interface WriterSummary {
  acknowledged: number;
  failed: number;
  longestMs: number;
  /** When the slowest write was started. */
  longestAt: number;
  startedAt: number;
  endedAt: number;
  switchedAt?: number;
  schemes: Record<string, number>;
  /** How often the client was made anew because its files had changed. */
  reloads: number;
  /** Errors of TLS itself, the first few: members and clients that did not trust each other. */
  tlsErrors: string[];
  /** The first few. */
  errors: string[];
}

const TLS_ERROR = /certificate|\bCERT_|\bERR_(TLS|SSL)_|\bSSL routines\b|\balert\b/i;

/** Keeps the log of events and the summary of them. */
export class Ledger {
  readonly #log: WriteStream;
  readonly #summary: WriterSummary = {
    acknowledged: 0,
    failed: 0,
    longestMs: 0,
    longestAt: 0,
    startedAt: Date.now(),
    endedAt: 0,
    schemes: {},
    reloads: 0,
    tlsErrors: [],
    errors: [],
  };

  constructor(
    log: string,
    private readonly summaryFile: string,
  ) {
    this.#log = createWriteStream(log);
  }

  record(event: WriteEvent): void {
    const summary = this.#summary;
    if (event.ok) {
      summary.acknowledged++;
      summary.schemes[event.scheme] = (summary.schemes[event.scheme] ?? 0) + 1;
    } else {
      summary.failed++;
      if (summary.errors.length < 20) summary.errors.push(`${event.key}: ${event.error}`);
    }
    if (event.ms > summary.longestMs) {
      summary.longestMs = event.ms;
      summary.longestAt = event.at;
    }
    this.#log.write(`${JSON.stringify(event)}\n`);
  }

  switched(to: Scheme): void {
    this.#summary.switchedAt = Date.now();
    this.#log.write(`${JSON.stringify({ note: "switch", at: Date.now(), detail: to })}\n`);
  }

  reloaded(): void {
    this.#summary.reloads++;
    this.#log.write(`${JSON.stringify({ note: "reload", at: Date.now() })}\n`);
  }

  /** What an attempt failed of, if that was TLS: retries would hide it. Members that go away are no such thing. */
  attemptFailed(message: string): void {
    if (!TLS_ERROR.test(message)) return;
    if (this.#summary.tlsErrors.length < 20) this.#summary.tlsErrors.push(message);
    this.#log.write(`${JSON.stringify({ note: "tls", at: Date.now(), detail: message })}\n`);
  }

  /** The summary comes last: a reader that finds it finds the whole log too. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#log.end(resolve));
    this.#summary.endedAt = Date.now();
    writeFileSync(`${this.summaryFile}.part`, JSON.stringify(this.#summary));
    renameSync(`${this.summaryFile}.part`, this.summaryFile);
  }
}
