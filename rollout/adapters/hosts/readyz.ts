import type { Duplex } from "node:stream";
import { get } from "../plain-http";

const DEADLINE_MS = 5000;

/** Whether a member says that it serves (/readyz needs a leader); what does not answer does not serve. */
export async function isServing(open: () => Promise<Duplex>): Promise<boolean> {
  const connection = await open().catch(() => undefined);
  return connection !== undefined && (await get(connection, "/readyz", DEADLINE_MS))?.status === 200;
}
