import * as z from "zod";
import { input } from "./schema";

/** A node of a JSON schema, as far as it is looked at here. */
export interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  [keyword: string]: unknown;
}

/** JSON schema of the stack config's keys, without their prefix `etcd:`. */
export function inputSchema(): SchemaNode {
  return z.toJSONSchema(input, { io: "input" }) as SchemaNode;
}

/** JSON schema of a stack's file (`Pulumi.<stack>.yaml`), for editors. */
export function jsonSchema(): Record<string, unknown> {
  const { $schema, properties = {} } = inputSchema();
  const names = Object.keys(properties);
  return {
    $schema,
    title: "Stack config of pulumi-etcd",
    type: "object",
    properties: {
      config: {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [`etcd:${name}`, properties[name]])),
        // Keys of other namespaces, such as `kubernetes:context`, are not judged here.
        patternProperties: { [`^etcd:(?!(${names.join("|")})$)`]: false },
      },
    },
  };
}
