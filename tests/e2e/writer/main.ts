import { existsSync } from "node:fs";
import { readConfig } from "./config";
import { Writer } from "./writer";

const path = process.argv[2];
if (!path) {
  process.stderr.write("usage: main.ts CONFIG.json\n");
  process.exit(2);
}

const config = readConfig(path);
const writer = new Writer(config);
const parent = process.ppid;
const end = Date.now() + config.maxSeconds * 1000;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => writer.stop());
// A writer that outlives its test would disturb the next one.
setInterval(() => {
  if (existsSync(config.stopFile) || process.ppid !== parent || Date.now() > end) writer.stop();
}, 100).unref();

writer.run().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);
