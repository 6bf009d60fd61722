import { createConnection, createServer, type Server } from "node:net";
import { type Duplex, PassThrough } from "node:stream";
import { DirectTransport, EtcdAdapter, PodForward, TransportError } from "../../../rollout/adapters";
import type { MemberAddress } from "../../../rollout/ports";
import { describeWithEtcd, eventually, freePort, TestCluster, testMembers } from "./etcd-process";
import { FakeApiServer } from "./fake-api-server";
import { FakePortForward } from "./fake-port-forward";

jest.setTimeout(30_000);

let api: FakeApiServer;
let fake: FakePortForward;
let forward: PodForward;
let echo: Server;

const pod: MemberAddress = {
  namespace: "db",
  pod: "etcd-0",
  host: "etcd-0.etcd-pods.db.svc.cluster.local",
  scheme: "http",
};

beforeEach(async () => {
  api = new FakeApiServer();
  await api.start();
  fake = new FakePortForward(api);
  forward = new PodForward({ kubeconfig: api.kubeconfig });
  echo = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  fake.pods.set("etcd-0", (echo.address() as { port: number }).port);
});

afterEach(async () => {
  await forward.close();
  await api.stop();
  await new Promise((resolve) => echo.close(resolve));
});

/** Sends through an endpoint and returns what came back; an empty text where the connection broke. */
function exchange(port: number, payload: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = createConnection({ host: "127.0.0.1", port }, () => socket.write(payload));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (Buffer.concat(chunks).length >= payload.length) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
}

test("a forward that is forbidden names the right that is missing", async () => {
  fake.refusal = "403 Forbidden";
  await expect(forward.connect(pod, 2379, 2000)).rejects.toThrow(
    /Forbidden \(403\): it takes the verbs get and create on the resource pods\/portforward\. .*stacks\/rbac\.yaml/,
  );
});

test("an endpoint is one port on 127.0.0.1, and every connection is forwarded anew", async () => {
  const endpoint = await forward.endpoint(pod, 2379);
  expect(await forward.endpoint(pod, 2379)).toBe(endpoint);
  expect((await forward.endpoint(pod, 2380)).port).not.toBe(endpoint.port);
  const payload = Buffer.alloc(300_000, "etcd");
  expect((await exchange(endpoint.port, payload)).equals(payload)).toBe(true);
  expect((await exchange(endpoint.port, Buffer.from("again"))).toString()).toBe("again");
  expect(fake.asked).toBe(2);
});

test("a pod that is not there: the connection breaks, and a call says why", async () => {
  const absent = { ...pod, pod: "etcd-9" };
  const endpoint = await forward.endpoint(absent, 2379);
  expect(await exchange(endpoint.port, Buffer.from("x"))).toHaveLength(0);
  await expect(new EtcdAdapter(forward).status(absent, 2_000)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/etcd-9: status: .*pod db\/etcd-9, port 2379: .*404/),
  });
});

test("a port where nothing listens in the pod is told as that", async () => {
  fake.pods.set("etcd-0", await freePort());
  const stream = await forward.connect(pod, 2379, 1_000);
  const error = await new Promise((resolve) => stream.on("error", resolve));
  expect(error).toBeInstanceOf(TransportError);
  expect((error as Error).message).toContain("ECONNREFUSED");
  const etcd = new EtcdAdapter(forward);
  expect(await etcd.probe(pod, 2_000)).toBe("unreachable");
  expect(await etcd.probe({ ...pod, scheme: "https" }, 2_000)).toBe("unreachable");
  await expect(etcd.status(pod, 2_000)).rejects.toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
  await expect(etcd.servedCertificate(pod, 2379, undefined, 2_000)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a connection that broke off before anyone listened is told all the same", async () => {
  class Broken extends DirectTransport {
    override async connect(): Promise<Duplex> {
      const stream = new PassThrough();
      stream.on("error", () => {});
      stream.destroy(new TransportError("nothing listens there"));
      await new Promise((resolve) => setImmediate(resolve));
      return stream;
    }
  }
  const etcd = new EtcdAdapter(new Broken());
  expect(await etcd.probe(pod, 2_000)).toBe("unreachable");
  expect(await etcd.probe({ ...pod, scheme: "https" }, 2_000)).toBe("unreachable");
  await expect(etcd.status(pod, 2_000)).rejects.toThrow("nothing listens there");
  await expect(etcd.servedCertificate(pod, 2379, undefined, 2_000)).rejects.toThrow("nothing listens there");
});

test("an API server that is silent costs the time allowed", async () => {
  fake.silent = true;
  const started = Date.now();
  await expect(forward.connect(pod, 2379, 300)).rejects.toThrow("no answer within 300 ms");
  expect(Date.now() - started).toBeLessThan(1_000);
});

test("close ends what is open and refuses what comes after", async () => {
  const endpoint = await forward.endpoint(pod, 2379);
  const stream = await forward.connect(pod, 2379, 1_000);
  await forward.close();
  expect(stream.destroyed).toBe(true);
  expect(await exchange(endpoint.port, Buffer.from("x"))).toHaveLength(0);
  await expect(forward.connect(pod, 2379, 1_000)).rejects.toThrow("closed");
});

describeWithEtcd("etcd behind a port-forward", () => {
  test("is called by name, and found again after a restart", async () => {
    const members = await testMembers(1);
    const etcd = new EtcdAdapter(forward);
    for (let start = 0; start < 2; start++) {
      const cluster = new TestCluster(members);
      cluster.start();
      fake.pods.set("etcd-0", members[0]!.clientPort);
      await eventually(() => etcd.linearizableRead(pod, 2_000));
      expect(await etcd.probe(pod, 2_000)).toBe("accepted");
      expect(await etcd.probe({ ...pod, scheme: "https" }, 2_000)).toBe("refused");
      await cluster.stop();
      expect(await etcd.probe(pod, 2_000)).toBe("unreachable");
    }
  });
});
