import { copyFileSync, linkSync } from "node:fs";

/** A second name for a file, or a copy on a file system without hard links. */
export function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
