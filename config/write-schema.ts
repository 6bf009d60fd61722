import { writeFileSync } from "node:fs";
import { jsonSchema } from "./json-schema";

/** Writes the JSON schema of the stack config: `node dist/config/write-schema.js config/schema.json`. */
function main(file: string | undefined): void {
  if (!file) throw new Error("usage: write-schema FILE");
  writeFileSync(file, `${JSON.stringify(jsonSchema(), undefined, 2)}\n`);
}

main(process.argv[2]);
