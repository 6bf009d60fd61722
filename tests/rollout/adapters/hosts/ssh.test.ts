import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { HostAccess } from "../../../../config/types";
import { HostError } from "../../../../rollout/adapters/hosts/host-error";
import { Ssh } from "../../../../rollout/adapters/hosts/ssh";
import { eventually } from "../etcd-process";
import { describeWithHosts, TestHost } from "./test-host";

jest.setTimeout(30_000);

describeWithHosts("SSH to a real sshd", () => {
  const host = new TestHost("etcd-0", "127.0.0.1");
  const opened: Ssh[] = [];

  beforeAll(() => host.start());
  afterEach(() => Promise.all(opened.splice(0).map((ssh) => ssh.close())));
  afterAll(() => host.remove());

  function ssh(change: Partial<HostAccess> = {}, without: (keyof HostAccess)[] = []): Ssh {
    const access = { ...host.access, ...change };
    for (const key of without) delete access[key];
    const made = new Ssh(access);
    opened.push(made);
    return made;
  }

  async function failure(attempt: Promise<unknown>): Promise<HostError> {
    const error = await attempt.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(HostError);
    return error as HostError;
  }

  async function strangersKey(): Promise<string> {
    const other = new TestHost("other", "127.0.0.1");
    await other.remove();
    return other.hostKeys.ed25519.public;
  }

  function fingerprintOf(publicKey: string): string {
    const key = Buffer.from(publicKey.split(" ")[1] ?? "", "base64");
    return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
  }

  test("a script runs as root, and its text is in no process list", async () => {
    const said = await ssh().run("secret=hidden\nid -u\ntr '\\0' ' ' </proc/$$/cmdline\n");
    expect(said).toBe("0\n/bin/sh -s ");
  });

  test("what a login prints is no part of a script's output", async () => {
    expect(await ssh().feed("echo said", Readable.from([]))).toBe("Welcome\nsaid\n");
    expect(await ssh().run("echo said\n")).toBe("said\n");
  });

  test("large input and output come through whole", async () => {
    const text = "0123456789abcdef\n".repeat(60_000);
    const said = await ssh().run(`cat <<'END' | sha256sum\n${text}END\n`);
    expect(said).toContain(createHash("sha256").update(text).digest("hex"));
    expect(await ssh().feed("sha256sum", Readable.from([Buffer.from(text)]))).toContain(said);
  });

  test("a command that fails says what it said last, and nothing of the script", async () => {
    const error = await failure(ssh().run("key='-----BEGIN PRIVATE KEY-----'\necho wrong >&2\nexit 3\n"));
    expect(error.reason).toBe("Command");
    expect(error.message).toBe("etcd-0: wrong");
  });

  test("a command that does not end is given up", async () => {
    const error = await failure(ssh().run("sleep 20\n", 300));
    expect(error.message).toBe("etcd-0: a command did not end within 0.3 s");
  });

  describe("the host's key", () => {
    test("is accepted where it is pinned as a key or as a fingerprint", async () => {
      await ssh().run("true\n");
      await ssh({ hostKey: fingerprintOf(host.hostKeys.ed25519.public) }).run("true\n");
    });

    test("is asked for by its type, where the host has several", async () => {
      await ssh({ hostKey: host.hostKeys.rsa.public }).run("true\n");
    });

    test("of another host is refused, and both are named", async () => {
      const stranger = await strangersKey();
      const shown = fingerprintOf(host.hostKeys.ed25519.public);
      for (const hostKey of [stranger, fingerprintOf(stranger)]) {
        const error = await failure(ssh({ hostKey }).run("touch /run/reached\n"));
        expect(error.reason).toBe("HostKey");
        expect(error.message).toContain(`it shows ssh-ed25519 ${shown}`);
      }
      expect(await ssh().run("ls /run/reached 2>/dev/null || echo no\n")).toBe("no\n");
    });

    test("is looked up in known_hosts: found, of another, and not there at all", async () => {
      const knownHosts = join(host.folder, "known_hosts");
      const known = (line: string) => {
        writeFileSync(knownHosts, `# comment\n${line}\n`);
        return ssh({ knownHosts }, ["hostKey"]);
      };
      const name = `[127.0.0.1]:${host.port}`;
      await known(`${name} ${host.hostKeys.ed25519.public}`).run("true\n");
      const wrong = await failure(known(`${name} ${await strangersKey()}`).run("true\n"));
      expect(wrong.reason).toBe("HostKey");
      const absent = await failure(known(`127.0.0.1 ${host.hostKeys.ed25519.public}`).run("true\n"));
      expect(absent.message).toContain(`has no line for ${name}`);
      const missing = await failure(ssh({ knownHosts: "/nonexistent" }, ["hostKey"]).run("true\n"));
      expect(missing.message).toContain("/nonexistent does not exist");
    });
  });

  test("who is not let in is told so, with the user", async () => {
    const other = new TestHost("other", "127.0.0.1");
    const error = await failure(ssh({ privateKeyFile: other.clientKeyFile }).run("true\n"));
    await other.remove();
    expect(error.reason).toBe("Authentication");
    expect(error.message).toContain(`root@127.0.0.1:${host.port} is not let in`);
  });

  test("a key file that cannot be read, or holds no key, is named and never quoted", async () => {
    const missing = await failure(ssh({ privateKeyFile: "/nonexistent" }).run("true\n"));
    expect(missing.message).toBe("etcd-0: ssh.privateKeyFile /nonexistent cannot be read: ENOENT");
    const file = join(host.folder, "broken");
    writeFileSync(file, "a secret of another kind");
    const broken = await failure(ssh({ privateKeyFile: file }).run("true\n"));
    expect(broken.reason).toBe("Authentication");
    expect(broken.message).not.toContain("another kind");
  });

  test("without a key file and without an agent it says what to set", async () => {
    const socket = process.env.SSH_AUTH_SOCK;
    delete process.env.SSH_AUTH_SOCK;
    try {
      const error = await failure(ssh({}, ["privateKeyFile"]).run("true\n"));
      expect(error.message).toContain("set ssh.privateKeyFile, or start an agent (SSH_AUTH_SOCK)");
    } finally {
      if (socket !== undefined) process.env.SSH_AUTH_SOCK = socket;
    }
  });

  test("a host that is not there is unreachable, with its address", async () => {
    const error = await failure(ssh({ port: 1 }).run("true\n"));
    expect(error.reason).toBe("Unreachable");
    expect(error.message).toBe("etcd-0: 127.0.0.1:1: SSH: ECONNREFUSED");
  });

  test("ports are reached as the host itself reaches them; one where nobody listens is told", async () => {
    const server = createServer((_, response) => response.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const connection = ssh();
    const channel = await connection.forward("127.0.0.1", port);
    channel.end("GET / HTTP/1.0\r\n\r\n");
    let said = "";
    for await (const chunk of channel) said += chunk;
    server.close();
    expect(said).toContain("hello");
    const error = await failure(connection.forward("127.0.0.1", 1));
    expect(error.message).toContain("127.0.0.1:1: (SSH) Channel open failure: Connection refused");
  });

  test("a connection that broke off is told, and the next call opens another", async () => {
    const connection = ssh();
    const broken = failure(connection.run("sleep 10\n"));
    const pid = await eventually(async () => (await ssh().run("pgrep -f 'sleep 1[0]'\n")).trim());
    await ssh().run(`kill -9 $(ps -o ppid= $(ps -o ppid= ${pid}))\n`);
    expect((await broken).message).toContain("the SSH connection broke off while a command ran");
    expect(await connection.run("echo again\n")).toBe("again\n");
  });
});
