import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { identify, isRunning } from "./process-identity.ts";
import { report, sleep } from "./progress.ts";

/** Everything built or fetched is kept here, for all clones of the repository. */
export const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pulumi-etcd");

export function hash(...parts: (string | Buffer)[]): string {
  const sum = createHash("sha256");
  for (const part of parts) {
    sum.update(`${part.length}:`).update(part); // the length keeps ("ab", "c") and ("a", "bc") apart
  }
  return sum.digest("hex").slice(0, 20);
}

/** The hash of a folder's files, by name and content. */
export function hashFolder(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return hash(...names.flatMap((name) => [name.slice(folder.length), readFileSync(name)]));
}

export function cachedFolder(name: string, key: string): string {
  return join(cacheRoot, `${name}-${key}`);
}

/**
 * Returns the folder for `name` and `key`, filled by `fill` if it is not there yet.
 *
 * It appears in its place only when complete, and a lock keeps a second clone
 * from doing the same work at the same time.
 */
export async function cached(name: string, key: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = cachedFolder(name, key);
  if (existsSync(folder)) return folder;
  mkdirSync(cacheRoot, { recursive: true });
  const unlock = await lock(`${folder}.lock`, name);
  try {
    if (existsSync(folder)) return folder;
    const temporary = `${folder}.part`;
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary);
    await fill(temporary);
    renameSync(temporary, folder);
    return folder;
  } finally {
    unlock();
  }
}

/** Takes a lock file that names the process that holds it; the lock of a process that has ended is void. */
export async function lock(file: string, what: string): Promise<() => void> {
  let waiting = false;
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify(identify(process.pid)), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (isVoid(file)) {
      rmSync(file, { force: true });
      continue;
    }
    if (!waiting) report(`${what}: waiting for another process that is at it (${file})`);
    waiting = true;
    await sleep(500);
  }
}

function isVoid(file: string): boolean {
  try {
    const holder = readFileSync(file, "utf8");
    // An empty file is one that its holder is about to write, unless that was long ago.
    if (holder === "") return Date.now() - statSync(file).mtimeMs > 5000;
    return !isRunning(JSON.parse(holder));
  } catch {
    return false; // gone in the meantime: the next attempt takes it
  }
}
