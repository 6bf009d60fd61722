import * as pulumi from "@pulumi/pulumi";
import { EtcdHost } from "../../components";
import { hosts as provider } from "../../components/providers";
import { UNKNOWN } from "../../components/providers/base";
import { parseHosts } from "../../config";
import { CA_A, CA_B } from "../manifests/pem";

interface Registered {
  type: string;
  inputs: Record<string, unknown>;
}

const registered: Registered[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => {
        registered.push({ type, inputs });
        const made = { privateKeyPem: `key of ${name}`, certPem: CA_A, certRequestPem: "request" };
        return {
          id: `${name}-id`,
          state: {
            ...inputs,
            ...(type.startsWith("tls:") && made),
            completedAt: "2030-01-01T00:00:00Z",
            endpoints: ["https://a:2379"],
          },
        };
      },
      call: () => ({}),
    },
    "etcd",
    "test",
    false,
    "acme",
  ),
);

beforeEach(() => {
  registered.length = 0;
});

const hosts = [{ name: "controller", address: "10.240.0.10" }];
const key = "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n";
const server = { certificate: CA_B, key };

const resolved = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => output.apply(resolve));

describe("the component", () => {
  test("makes the certificates itself where it has a CA of its own", async () => {
    const host = new EtcdHost("own", { hosts, tls: { ca: {}, certificates: [{ alias: "client", sameAs: "server" }] } });
    await resolved(host.endpoints);
    const types = registered.map(({ type }) => type.split(":").at(-1));
    expect(types.filter((type) => type === "SelfSignedCert")).toHaveLength(1);
    expect(types.filter((type) => type === "LocallySignedCert")).toHaveLength(2);
    const { inputs } = registered.find(({ type }) => type.endsWith("HostRollout"))!;
    expect(inputs.ca).toBe(CA_A);
    expect(JSON.stringify(inputs.leaves)).toContain("key of own-server");
    expect(JSON.stringify(inputs.leaves)).toContain("4dabf18193072939515e22adb298388d");
  });

  test("hands the provider the spec, the way to the hosts, and the certificates as a secret", async () => {
    const host = new EtcdHost("one", { hosts, tls: {}, ca: CA_A, certificates: { server } });
    await resolved(host.endpoints);
    const rollout = registered.find(({ type }) => type.endsWith("HostRollout"));
    expect(rollout?.inputs).toMatchObject({
      owner: "acme/etcd/test",
      access: { hosts: [{ name: "controller", host: "10.240.0.10", user: "root" }] },
      spec: { hosts: { members: [{ name: "controller" }] } },
      ca: CA_A,
    });
    // How the SDK marks a secret on its way to the engine.
    expect(rollout?.inputs.leaves).toMatchObject({
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    });
    expect(JSON.stringify(rollout?.inputs.spec)).not.toContain("PRIVATE KEY");
    expect(JSON.stringify(rollout?.inputs.access)).not.toContain("PRIVATE KEY");
  });

  test("its scripts and user data hold the key, and are secrets", async () => {
    const host = new EtcdHost("two", { hosts, tls: {}, ca: CA_A, certificates: { server } });
    expect((await resolved(host.installScripts)).controller).toContain(key);
    expect((await resolved(host.cloudInits)).controller).toMatch(/^#cloud-config\n/);
    expect(await pulumi.isSecret(host.installScripts)).toBe(true);
    expect(await pulumi.isSecret(host.cloudInits)).toBe(true);
  });

  test("certificates without etcd:tls reach nobody", async () => {
    const host = new EtcdHost("three", { hosts, ca: CA_A, certificates: { server } });
    expect((await resolved(host.installScripts)).controller).not.toMatch(/PRIVATE KEY|CERTIFICATE/);
  });

  test("a key that is not right is told before anything is declared", () => {
    expect(() => new EtcdHost("four", { hosts: [] })).toThrow(/etcd:hosts/);
    expect(registered).toEqual([]);
  });
});

describe("the provider", () => {
  const { spec, access } = parseHosts({ hosts, tls: {} });
  const state = { resourceUrn: "urn:x", spec, access, owner: "me", ca: "A", leaves: { server }, plan: ["x"] };
  const changed = async (news: object) =>
    (await provider.diff("id", state, { ...state, plan: [], ...news })).changes !== false;

  test.each([
    ["nothing changed: no", {}, false],
    ["the hosts are not where the spec wants them", { plan: ["pass 1/1: restart controller"] }, true],
    ["another certificate", { leaves: { server: { ...server, certificate: CA_A } } }, true],
    ["another CA", { ca: "B" }, true],
    ["certificates that are not known yet", { leaves: UNKNOWN }, true],
    ["another way to the hosts: no", { access: { hosts: [] } }, false],
  ])("is a difference: %s", async (_, news, expected) => expect(await changed(news)).toBe(expected));

  test("a host that is not reached is a failure that names it, and quotes no key", async () => {
    const gone = parseHosts({
      hosts: [{ name: "gone", address: "127.0.0.1", ssh: { port: 1, hostKey: `SHA256:${"A".repeat(43)}` } }],
    });
    process.env.SSH_AUTH_SOCK ??= "/nonexistent";
    const { failures } = await provider.check({}, { ...state, spec: gone.spec, access: gone.access, leaves: {} });
    expect(failures).toEqual([{ property: "", reason: "gone: 127.0.0.1:1: SSH: ECONNREFUSED" }]);
  });
});
