import { homedir } from "node:os";
import { join } from "node:path";

/** A path of this machine; `~/` is the user's home. */
export function expandHome(path: string): string {
  return path.startsWith("~/") ? join(process.env.HOME || homedir(), path.slice(2)) : path;
}
