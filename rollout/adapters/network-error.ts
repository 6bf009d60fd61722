interface NetworkError extends Error {
  code?: string;
  /** Set where several addresses of one name were tried. */
  errors?: Error[];
}

const transientCodes = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);

/** Whether the same call may well succeed a moment later. */
export function isTransient(error: Error): boolean {
  return transientCodes.has((error as NetworkError).code ?? "");
}

/** The error in one line; an error over several addresses has no message of its own. */
export function describeNetworkError(error: Error): string {
  const { code, errors } = error as NetworkError;
  const message = error.message || (errors ?? []).map((inner) => inner.message).join("; ");
  if (!message) return code ?? "connection failed";
  return code && !message.includes(code) ? `${message} (${code})` : message;
}
