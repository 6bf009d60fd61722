/** Just enough of DER to write an X.509 certificate. */

export function tlv(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), length(body.length), body]);
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  return size < 0x100 ? Buffer.from([0x81, size]) : Buffer.from([0x82, size >> 8, size & 0xff]);
}

export const sequence = (...content: Buffer[]) => tlv(0x30, ...content);
export const octets = (content: Buffer) => tlv(0x04, content);
export const bits = (content: Buffer) => tlv(0x03, Buffer.from([0]), content);
/** Context-specific and constructed: `[n] EXPLICIT`. */
export const explicit = (n: number, content: Buffer) => tlv(0xa0 | n, content);
export const boolean = (value: boolean) => tlv(0x01, Buffer.from([value ? 0xff : 0]));

export function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  // A first byte above 0x7f would make it negative.
  return tlv(0x02, Buffer.concat([Buffer.alloc(bytes[0]! > 0x7f ? 1 : 0), bytes]));
}

export function time(date: Date): Buffer {
  return tlv(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
}

/** An object identifier, given by its encoded bytes in hexadecimal. */
export const oid = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"));
