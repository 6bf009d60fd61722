import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createConnection, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FakeApiServer } from "./fake-api-server";

/** Channels of a port-forward over a WebSocket: each message starts with the number of one. */
const dataChannel = 0;
const errorChannel = 1;

/**
 * Port-forward as the kubelet does it: the WebSocket is accepted first, then the pod's port (here: on loopback) is
 * dialled, and a failure of that goes to the error channel.
 */
export class FakePortForward {
  /** Pod name to port on loopback. Other pods are not found. */
  readonly pods = new Map<string, number>();
  /** Number of connections that were asked for. */
  asked = 0;
  /** Set to refuse requests with this status. */
  refusal: string | undefined;
  /** Set to let requests hang. */
  silent = false;

  constructor(api: FakeApiServer) {
    api.server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
      this.asked++;
      if (!this.silent) this.#accept(request, socket);
    });
  }

  #accept(request: IncomingMessage, socket: Duplex): void {
    const pod = /\/pods\/([^/]+)\/portforward/.exec(request.url!)?.[1];
    const port = this.pods.get(pod ?? "");
    if (port === undefined || this.refusal) {
      const status = this.refusal ?? "404 Not Found";
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const digest = createHash("sha1").update(
      `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${digest.digest("base64")}\r\nsec-websocket-protocol: v4.channel.k8s.io\r\n\r\n`,
    );
    // The first message of each channel is the port number.
    send(socket, dataChannel, Buffer.from([0, 0]));
    send(socket, errorChannel, Buffer.from([0, 0]));
    relay(socket, createConnection({ host: "127.0.0.1", port }));
  }
}

function relay(socket: Duplex, target: Socket): void {
  target.on("data", (chunk: Buffer) => send(socket, dataChannel, chunk));
  target.on("error", (error) => send(socket, errorChannel, Buffer.from(`error forwarding port: ${error.message}`)));
  target.on("close", () => socket.end());
  socket.on("error", () => {});
  socket.on("close", () => target.destroy());
  let pending = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let frame = parse(pending); frame; frame = parse(pending)) {
      pending = pending.subarray(frame.size);
      if (frame.opcode === 8) target.end();
      else if (frame.payload.length > 1) target.write(frame.payload.subarray(1));
    }
  });
}

function send(socket: Duplex, channel: number, payload: Buffer): void {
  const size = payload.length + 1;
  const header = Buffer.alloc(10);
  header.writeUInt8(0x82, 0);
  header.writeUInt8(127, 1);
  header.writeBigUInt64BE(BigInt(size), 2);
  if (socket.writable) socket.write(Buffer.concat([header, Buffer.from([channel]), payload]));
}

/** One masked frame from a client; undefined while it is not complete. */
function parse(data: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (data.length < 2) return undefined;
  const short = data.readUInt8(1) & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (data.length < 2 + extra + 4) return undefined;
  const length = extra === 2 ? data.readUInt16BE(2) : extra === 8 ? Number(data.readBigUInt64BE(2)) : short;
  const start = 2 + extra + 4;
  if (data.length < start + length) return undefined;
  const mask = data.subarray(start - 4, start);
  const payload = Buffer.from(data.subarray(start, start + length).map((byte, index) => byte ^ mask[index % 4]!));
  return { opcode: data.readUInt8(0) & 0x0f, payload, size: start + length };
}
