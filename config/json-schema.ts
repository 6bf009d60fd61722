import * as z from "zod";
import { input } from "./schema";

/** A node of a JSON schema, as far as it is looked at here. */
export interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  [keyword: string]: unknown;
}

let inputSchemaOnce: SchemaNode | undefined;

/** JSON schema of the stack config's keys, without their prefix `etcd:`. */
export function inputSchema(): SchemaNode {
  inputSchemaOnce ??= schemaOf(input);
  return inputSchemaOnce;
}

/** JSON schema of what may be written for a schema. */
export function schemaOf(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: "input", override: finish }) as SchemaNode;
}

/** Puts back the defaults that zod takes off converted values, and takes off the bounds that every integer has. */
function finish({
  zodSchema,
  jsonSchema: node,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}) {
  const stated = z.globalRegistry.get(zodSchema);
  if (stated?.default !== undefined) node.default = stated.default as z.core.JSONSchema.BaseSchema["default"];
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
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
