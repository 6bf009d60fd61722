import { readFileSync } from "node:fs";
import { connect as dial, type Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { Client, type ClientChannel, type ConnectConfig, type ServerHostKeyAlgorithm } from "ssh2";
import type { HostAccess } from "../../../config/types";
import { HostError } from "./host-error";
import { expectedKey } from "./host-key";
import { expandHome } from "./paths";

const CONNECT_TIMEOUT_MS = 10_000;

/** A connection that answers nothing for three of these is taken for broken, in milliseconds. */
const KEEPALIVE_MS = 5000;

/** Before it may come what a login prints, such as a greeting in `.bashrc`. */
const BEGIN = "pulumi-etcd-begin";

/** Longest run of one script, in milliseconds: stopping a member may take a minute. */
const SCRIPT_TIMEOUT_MS = 120_000;

/**
 * One host over SSH: one connection, opened when it is first needed and again after it broke off. Keeps the process
 * from ending only while something runs.
 */
export class Ssh {
  #client: Promise<Client> | undefined;
  #socket: Socket | undefined;
  #running = 0;

  constructor(readonly access: HostAccess) {}

  /**
   * Runs a shell script as root and returns what it printed. The script goes through standard input: it is in no
   * process list, and may hold private keys.
   *
   * @throws HostError
   */
  async run(script: string, timeoutMs = SCRIPT_TIMEOUT_MS): Promise<string> {
    const said = await this.#exec("/bin/sh -s", `echo ${BEGIN}\n${script}`, timeoutMs);
    return said.slice(said.indexOf(BEGIN) + BEGIN.length + 1);
  }

  /** Runs one command as root with a stream as its input. The command must hold no secret. */
  async feed(command: string, input: Readable, timeoutMs = SCRIPT_TIMEOUT_MS): Promise<string> {
    return this.#exec(command, input, timeoutMs);
  }

  /** A connection to an address as the host itself would open it. */
  async forward(address: string, port: number): Promise<Duplex> {
    const client = await this.#connected();
    return new Promise((resolve, reject) => {
      client.forwardOut("127.0.0.1", 0, address, port, (error, channel) => {
        if (error) reject(this.#error("Unreachable", `${address}:${port}: ${error.message}`));
        else resolve(channel);
      });
    });
  }

  /** Ends the connection; the next call opens another. */
  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    client?.end();
  }

  async #exec(command: string, input: string | Readable, timeoutMs: number): Promise<string> {
    const client = await this.#connected();
    this.#hold(1);
    try {
      return await this.#perform(client, this.#asRoot(command), input, timeoutMs);
    } finally {
      this.#hold(-1);
    }
  }

  #asRoot(command: string): string {
    return this.access.user === "root" ? command : `sudo -n ${command}`;
  }

  #perform(client: Client, command: string, input: string | Readable, timeoutMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      client.exec(command, (error, channel) => {
        if (error) reject(this.#error("Command", `cannot run a command: ${error.message}`));
        // At once: how a quick command ended may have come together with its channel.
        else this.#await(channel, input, timeoutMs).then(resolve, reject);
      });
    });
  }

  #await(channel: ClientChannel, input: string | Readable, timeoutMs: number): Promise<string> {
    let [stdout, stderr] = ["", ""];
    return new Promise((resolve, reject) => {
      const fail = (reason: "Command" | "Unreachable", why: string) => reject(this.#error(reason, why));
      const timer = setTimeout(() => {
        fail("Command", `a command did not end within ${timeoutMs / 1000} s`);
        channel.destroy();
      }, timeoutMs);
      let code: number | null | undefined;
      channel.on("data", (chunk: Buffer) => {
        stdout += chunk;
      });
      channel.stderr.on("data", (chunk: Buffer) => {
        stderr += chunk;
      });
      channel.on("exit", (exitCode: number | null) => {
        code = exitCode;
      });
      channel.on("close", () => {
        clearTimeout(timer);
        if (code === 0) resolve(stdout);
        else if (code === undefined) fail("Unreachable", "the SSH connection broke off while a command ran");
        else fail("Command", describeFailure(stderr, code, this.access));
      });
      // The command may end without reading its input.
      channel.on("error", () => {});
      if (typeof input === "string") channel.end(input);
      else input.pipe(channel);
    });
  }

  #hold(change: number): void {
    this.#running += change;
    if (this.#running > 0) this.#socket?.ref();
    else this.#socket?.unref();
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Client> {
    try {
      return await this.#dial();
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  async #dial(): Promise<Client> {
    const { host, port, user } = this.access;
    const { objection, algorithms } = this.#expected();
    let refused: string | undefined;
    const config: ConnectConfig = {
      username: user,
      readyTimeout: CONNECT_TIMEOUT_MS,
      keepaliveInterval: KEEPALIVE_MS,
      ...this.#identity(),
      ...(algorithms && { algorithms: { serverHostKey: algorithms as ServerHostKeyAlgorithm[] } }),
      hostVerifier: (key: Buffer) => {
        refused = objection(key);
        return refused === undefined;
      },
    };
    const socket = await this.#reach(host, port);
    const client = new Client();
    return new Promise((resolve, reject) => {
      client.on("ready", () => {
        this.#socket = socket;
        this.#hold(0);
        resolve(client);
      });
      client.on("error", (error) => reject(this.#connectError(error, refused)));
      client.on("close", () => {
        if (this.#socket === socket) this.#client = undefined;
        reject(this.#error("Unreachable", `${host}:${port}: SSH: the connection was closed`));
      });
      try {
        client.connect({ ...config, sock: socket });
      } catch (error) {
        // A private key that cannot be read is told at once.
        socket.destroy();
        reject(this.#connectError(error as Error, refused));
      }
    });
  }

  #reach(host: string, port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = dial({ host, port });
      const fail = (why: string) => {
        socket.destroy();
        reject(this.#error("Unreachable", `${host}:${port}: SSH: ${why}`));
      };
      socket.setTimeout(CONNECT_TIMEOUT_MS, () => fail(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`));
      socket.once("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
      socket.once("connect", () => {
        socket.setTimeout(0);
        socket.removeAllListeners("error");
        socket.on("error", () => {});
        resolve(socket);
      });
    });
  }

  #expected() {
    try {
      return expectedKey(this.access);
    } catch (error) {
      throw this.#error("HostKey", (error as Error).message);
    }
  }

  /** The key that the user shows, read now and kept nowhere. */
  #identity(): Pick<ConnectConfig, "privateKey" | "agent"> {
    const { privateKeyFile } = this.access;
    if (privateKeyFile === undefined) {
      const agent = process.env.SSH_AUTH_SOCK;
      if (agent) return { agent };
      throw this.#error(
        "Authentication",
        "no key to log in with: set ssh.privateKeyFile, or start an agent (SSH_AUTH_SOCK)",
      );
    }
    try {
      return { privateKey: readFileSync(expandHome(privateKeyFile)) };
    } catch (error) {
      const { code = "unreadable" } = error as NodeJS.ErrnoException;
      throw this.#error("Authentication", `ssh.privateKeyFile ${privateKeyFile} cannot be read: ${code}`);
    }
  }

  #connectError(error: Error & { level?: string }, refused: string | undefined): HostError {
    const { host, port, user } = this.access;
    if (refused !== undefined) {
      return this.#error(
        "HostKey",
        `${host}:${port} is not the host that was expected: ${refused}. Nothing was sent to it`,
      );
    }
    if (/host key/i.test(error.message)) {
      return this.#error("HostKey", `${host}:${port} has no key of a kind that is known of it (${error.message})`);
    }
    if (/Cannot parse privateKey/.test(error.message)) {
      const why = "is no OpenSSH private key without a passphrase; give keys with one to an agent";
      return this.#error("Authentication", `ssh.privateKeyFile ${this.access.privateKeyFile} ${why}`);
    }
    if (error.level === "client-authentication") {
      return this.#error("Authentication", `${user}@${host}:${port} is not let in: ${error.message}`);
    }
    return this.#error("Unreachable", `${host}:${port}: SSH: ${error.message}`);
  }

  #error(reason: HostError["reason"], detail: string): HostError {
    return new HostError(reason, this.access.name, detail);
  }
}

/** What a command said last; never the script itself, which the shell does not quote. */
function describeFailure(stderr: string, code: number | null, { user }: HostAccess): string {
  const words = stderr.trim().split("\n").slice(-3).join("; ").slice(0, 400);
  if (/^sudo:/.test(words)) return `${user} may not run commands as root (${words}): allow it sudo without a password`;
  return words || `a command failed with exit code ${code}`;
}
