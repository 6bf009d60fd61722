import { readFileSync } from "node:fs";

export type Scheme = "http" | "https";

/** A user of etcd's own authentication. */
export interface EtcdUser {
  name: string;
  password: string;
}

/** What a writer is told; the Go writer reads the same file. */
export interface WriterConfig {
  members: { name: string; address: string }[];
  /** Files that may appear only later: they are read anew whenever a client is made. */
  credentials: { ca: string; certificate: string; key: string };
  /** As whom to come where etcd's authentication is on. */
  user?: EtcdUser;
  /** Keys are written below this. */
  prefix: string;
  ratePerSecond: number;
  /** The scheme that works at the start, and the one to move to as soon as all members accept it. */
  start: Scheme;
  destination: Scheme;
  retry: RetryPolicy;
  /** Where events go, one JSON object a line, and the summary of them. */
  log: string;
  summary: string;
  /** The writer goes on while this file is there and is touched, and for `maxSeconds` at most. */
  runFile: string;
  maxSeconds: number;
}

/** Puts of unique keys may be repeated: whether the first attempt went through or not, the outcome is the same. */
export interface RetryPolicy {
  /** Deadline of one attempt, in milliseconds. */
  attemptMs: number;
  /** Pause between attempts, in milliseconds. */
  pauseMs: number;
  /** A write that is not acknowledged after this time has failed, in milliseconds. */
  overallMs: number;
  /**
   * Whether an attempt may try the scheme that the attempt before it did not. A single member has no bridge: it
   * changes over in its restart.
   */
  eitherScheme: boolean;
}

export function readConfig(path: string): WriterConfig {
  return JSON.parse(readFileSync(path, "utf8")) as WriterConfig;
}
