import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchema } from "../../config";
import { inputSchema, type SchemaNode } from "../../config/json-schema";

test("config/schema.json is what the code says; `npm run build && node dist/config/write-schema.js config/schema.json` writes it", () => {
  const committed = readFileSync(join(__dirname, "../../config/schema.json"), "utf8");
  expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(jsonSchema())));
});

test("every key is described", () => {
  expect(undescribed(inputSchema(), "etcd")).toEqual([]);
});

function undescribed(node: SchemaNode, path: string): string[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    ...(child.description ? [] : [`${path}.${key}`]),
    ...undescribed(child, `${path}.${key}`),
  ]);
  return node.items ? [...own, ...undescribed(node.items, `${path}[]`)] : own;
}
