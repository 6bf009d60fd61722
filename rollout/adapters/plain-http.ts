import type { Duplex } from "node:stream";

export interface PlainAnswer {
  /** Status code; 0 where the answer is none of HTTP. */
  status: number;
  /** As much of it as came. */
  body: string;
}

/**
 * Asks once over a connection, in the clear, and ends it. Node's own HTTP client wants a socket, and a tunnel is none.
 * Undefined where no answer came in time.
 */
export async function get(connection: Duplex, path: string, deadlineMs: number): Promise<PlainAnswer | undefined> {
  try {
    const text = await exchange(connection, `GET ${path} HTTP/1.0\r\nHost: member\r\n\r\n`, deadlineMs);
    if (!text.includes("\r\n")) return undefined;
    const end = text.indexOf("\r\n\r\n");
    const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1] ?? 0);
    return { status, body: end < 0 ? "" : text.slice(end + 4) };
  } finally {
    connection.destroy();
  }
}

/** What came until the other side ended: HTTP/1.0 keeps no connection. */
function exchange(connection: Duplex, request: string, deadlineMs: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const end = () => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(end, deadlineMs);
    connection.on("data", (chunk: Buffer) => {
      answer += chunk;
    });
    for (const event of ["end", "error", "close"]) connection.on(event, end);
    connection.write(request);
  });
}
