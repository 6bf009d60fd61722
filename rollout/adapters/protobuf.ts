/** As much of protobuf's wire format as the messages take that the client library's copy of etcd's API lacks. */

/** A field's value: a number, or what was written with a length before it. */
export type Field = bigint | Buffer;

/** The last value of every field, by its number. */
export function decode(message: Buffer): Map<number, Field> {
  const fields = new Map<number, Field>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error("a message of etcd ends in the middle of a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    if (at + length > message.length) throw new Error("a message of etcd ends in the middle of a field");
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const read: Record<number, () => Field> = {
      0: varint,
      1: () => bytes(8),
      2: () => bytes(Number(varint())),
      5: () => bytes(4),
    };
    const field = read[Number(tag & 7n)];
    if (!field) throw new Error(`a message of etcd has a field of the unknown kind ${tag & 7n}`);
    fields.set(Number(tag >> 3n), field());
  }
  return fields;
}

/** A message of small numbers and texts. */
export function encode(fields: Record<number, number | string>): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([number, value]) => {
      const tag = Number(number) << 3;
      if (typeof value === "number") return [Buffer.from([tag, ...varint(value)])];
      const text = Buffer.from(value);
      return [Buffer.from([tag | 2, ...varint(text.length)]), text];
    }),
  );
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
