export interface TarEntry {
  path: string;
  mode?: number;
  /** A file's content; a folder has none. */
  content?: Buffer | string;
}

const block = 512;

/** A tar archive in the ustar format, owned by root and without times, so that equal content gives equal bytes. */
export function tar(entries: TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    return [header(entry, content.length), content, Buffer.alloc((block - (content.length % block)) % block)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function header(entry: TarEntry, size: number): Buffer {
  const folder = entry.content === undefined;
  if (entry.path.length > 99) throw new Error(`the path is too long for a tar archive of this kind: ${entry.path}`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, offset: number, length: number) =>
    bytes.write(value.toString(8).padStart(length - 1, "0"), offset, "latin1");
  bytes.write(entry.path, 0, "latin1");
  octal(entry.mode ?? (folder ? 0o755 : 0o644), 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.write(" ".repeat(8), 148, "latin1"); // the checksum counts itself as spaces
  bytes.write(folder ? "5" : "0", 156, "latin1");
  bytes.write("ustar\0" + "00", 257, "latin1");
  octal(
    bytes.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return bytes;
}
