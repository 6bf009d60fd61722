import type { Duplex } from "node:stream";

const DEADLINE_MS = 5000;

/** Whether a member says that it serves (/readyz needs a leader); what does not answer does not serve. */
export async function isServing(open: () => Promise<Duplex>): Promise<boolean> {
  const connection = await open().catch(() => undefined);
  if (!connection) return false;
  try {
    return /^HTTP\/1\.[01] 200 /.test(await ask(connection));
  } finally {
    connection.destroy();
  }
}

/** The beginning of the answer; empty where there is none. Node's HTTP client wants a socket, and this is none. */
function ask(connection: Duplex): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const timer = setTimeout(() => resolve(""), DEADLINE_MS);
    const end = () => {
      clearTimeout(timer);
      resolve(answer);
    };
    connection.on("data", (chunk: Buffer) => {
      answer += chunk;
      if (answer.includes("\r\n")) end();
    });
    connection.on("error", end);
    connection.on("close", end);
    connection.write("GET /readyz HTTP/1.0\r\nHost: member\r\n\r\n");
  });
}
