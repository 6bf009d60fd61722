import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { parseSpec } from "../../config";

const folder = join(__dirname, "../../stacks");
const stacks = readdirSync(folder).filter((file) => /^Pulumi\..*\.yaml$/.test(file));

/** The stack's config as the program gets it: without the namespace's prefix. */
function configOf(file: string): Record<string, unknown> {
  const { config } = parse(readFileSync(join(folder, file), "utf8")) as { config: Record<string, unknown> };
  const own = Object.entries(config).filter(([key]) => key.startsWith("etcd:"));
  return Object.fromEntries(own.map(([key, value]) => [key.slice("etcd:".length), value]));
}

test("there are stacks to look at", () => {
  expect(stacks).toEqual(expect.arrayContaining(["Pulumi.local.yaml", "Pulumi.production.yaml"]));
});

test.each(stacks)("%s is accepted without a warning", (file) => {
  expect(parseSpec(configOf(file)).warnings).toEqual([]);
});
