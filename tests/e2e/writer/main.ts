import { statSync } from "node:fs";
import { readConfig } from "./config";
import { Writer } from "./writer";

/** How long the run file may go untouched before whoever started this is taken for dead. */
const STALE_AFTER_MS = 20_000;

const path = process.argv[2];
if (!path) {
  process.stderr.write("usage: main.ts CONFIG.json\n");
  process.exit(2);
}

const config = readConfig(path);
const writer = new Writer(config);
const end = Date.now() + config.maxSeconds * 1000;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => writer.stop());
// A writer that outlives its test would disturb the next one.
setInterval(() => {
  const touched = statSync(config.runFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - touched > STALE_AFTER_MS || Date.now() > end) writer.stop();
}, 100).unref();

writer.run().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);
