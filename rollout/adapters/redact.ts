/**
 * Takes the content of a Secret out of a message about it: some API server errors quote the part of the body
 * that they could not decode.
 */
export function redact(message: string, body: object | undefined): string {
  const secret = body as
    | { kind?: string; data?: Record<string, unknown>; stringData?: Record<string, unknown> }
    | undefined;
  if (secret?.kind !== "Secret") return message;
  const values = [...Object.values(secret.data ?? {}), ...Object.values(secret.stringData ?? {})].map(String);
  const cut = message.replace(/,? ?(error found in|bigger context).*$/s, "");
  return values.filter(Boolean).reduce((text, value) => text.replaceAll(value, "[secret]"), cut);
}
