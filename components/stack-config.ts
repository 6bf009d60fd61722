import * as pulumi from "@pulumi/pulumi";

/**
 * The config of the stack under the project's namespace, every key of it, so that a key that nobody knows can be
 * refused instead of ignored. Structured values are parsed; what they mean is the schema's to say.
 */
export function readStackConfig(): Record<string, unknown> {
  const prefix = `${pulumi.getProject()}:`;
  const entries = Object.entries(pulumi.runtime.allConfig()).flatMap(([key, text]) =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), parseValue(text)] as const] : [],
  );
  return Object.fromEntries(entries);
}

/** Pulumi hands structured values over as JSON, and plain ones as they were typed. */
function parseValue(text: string): unknown {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
