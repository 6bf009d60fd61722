/**
 * Takes the content of a Secret out of a message about it: some API server errors quote the part of the body
 * that they could not decode.
 */
export function redact(message: string, body: object | undefined): string {
  const secret = body as { kind?: string; data?: unknown; stringData?: unknown } | undefined;
  if (secret?.kind !== "Secret") return message;
  const cut = message.replace(/,? ?(error found in|bigger context).*$/s, "");
  // Longest first: a value may be part of another.
  const values = [...leaves(secret.data), ...leaves(secret.stringData)].sort((a, b) => b.length - a.length);
  return values.reduce((text, value) => text.replaceAll(value, "[secret]"), cut);
}

function leaves(value: unknown): string[] {
  if (value === null || value === undefined || value === "") return [];
  return typeof value === "object" ? Object.values(value).flatMap(leaves) : [String(value)];
}
