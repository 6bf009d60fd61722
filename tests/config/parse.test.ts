import { parseSpec } from "../../config";
import { CA_A, CA_B } from "../manifests/pem";

const issuerRef = { name: "ca" };

describe("defaults", () => {
  test("an empty config is a plaintext cluster of three", () => {
    expect(parseSpec({})).toMatchSnapshot();
  });

  test("TLS needs an issuer's name and nothing else", () => {
    expect(parseSpec({ tls: { issuerRef } }).spec.tls).toMatchSnapshot();
  });

  test("a CA of its own needs no more than to be asked for", () => {
    const { ca, certificates } = parseSpec({ tls: { ca: {} } }).spec.tls!;
    expect(ca).toEqual({
      commonName: "etcd CA",
      subject: {},
      privateKey: { algorithm: "ECDSA", size: 256 },
      duration: "87600h",
      renewBefore: "8760h",
      generation: 1,
    });
    expect(certificates.map(({ secretName, duration, renewBefore }) => [secretName, duration, renewBefore])).toEqual(
      ["server", "peer", "client"].map((alias) => [`etcd-${alias}-own-cert`, "8760h", "2920h"]),
    );
    expect(parseSpec({ tls: { ca: { generation: 2 } } }).spec.tls?.ca?.commonName).toBe("etcd CA 2");
  });

  test("given Secrets are copied, each under a name of ours", () => {
    const secrets = { server: "a", peer: "a", client: "b" };
    const { certificates, ...tls } = parseSpec({ tls: { secrets } }).spec.tls!;
    expect(tls.secrets).toEqual(secrets);
    expect(certificates.map(({ secretName }) => secretName)).toEqual([
      "etcd-server-copied-cert",
      "etcd-peer-copied-cert",
      "etcd-client-copied-cert",
    ]);
  });

  test("a key that is null counts as absent", () => {
    expect(parseSpec({ tls: null, name: null })).toEqual(parseSpec({}));
  });

  test("the issuer's group and kind are cert-manager's", () => {
    const { tls } = parseSpec({ tls: { issuerRef } }).spec;
    expect(tls?.issuerRef).toEqual({ apiGroup: "cert-manager.io", kind: "Issuer", name: "ca" });
  });

  test("the version follows the image's tag", () => {
    expect(parseSpec({ image: "localhost:5000/etcd:v3.5.21@sha256:".concat("a".repeat(64)) }).spec.version).toBe(
      "3.5.21",
    );
    expect(parseSpec({ version: "3.5.21" }).spec.image).toBe("quay.io/coreos/etcd:v3.5.21");
  });

  test("standing namespaces are not made", () => {
    expect(parseSpec({ namespace: "default" }).spec.createNamespace).toBe(false);
    expect(parseSpec({ namespace: "orders" }).spec.createNamespace).toBe(true);
  });

  test("an absent storage class and an empty one are two things", () => {
    expect(parseSpec({ storage: {} }).spec.storage).toEqual({ size: "8Gi" });
    expect(parseSpec({ storage: { class: "" } }).spec.storage).toEqual({ size: "8Gi", className: "" });
  });

  test("the metrics exporter's certificate is made only where it is listed", () => {
    const listed = { tls: { issuerRef, certificates: [{ alias: "metrics-exporter" }] } };
    const aliases = (raw: Record<string, unknown>) => parseSpec(raw).spec.tls?.certificates.map(({ alias }) => alias);
    expect(aliases({ tls: { issuerRef } })).toEqual(["server", "peer", "client"]);
    expect(aliases(listed)).toEqual(["server", "peer", "client", "metrics-exporter"]);
  });
});

describe("further CAs", () => {
  const trusted = (...trustedCAs: object[]) => parseSpec({ tls: { issuerRef, trustedCAs } }).spec.tls?.trustedCAs;

  test("lie under ca.crt unless another key is named", () => {
    expect(trusted({ configMap: { name: "a" } }, { secret: { name: "b", key: "b.pem" } })).toEqual([
      { configMap: { name: "a", key: "ca.crt" } },
      { secret: { name: "b", key: "b.pem" } },
    ]);
  });

  test("are kept in one spelling, in the order they are written", () => {
    const pem = `# of old\n${CA_B.replaceAll("\n", "\r\n")}# newer\n${CA_A}`;
    expect(trusted({ pem })).toEqual([{ pem: CA_B + CA_A }]);
  });
});

describe("restart token", () => {
  const token = (raw: Record<string, unknown>) => parseSpec(raw).spec.restartToken;
  const always = { issuerRef, restartPolicy: "Always" };

  test("is absent where no restart is asked for", () => {
    expect(parseSpec({ tls: { issuerRef, rotate: "1" } }).spec).not.toHaveProperty("restartToken");
  });

  test("differs for everything that asks for one, and is the same for the same", () => {
    const tokens = [
      { rollout: { restart: "1" } },
      { rollout: { restart: "2" } },
      { tls: always },
      { tls: always, rollout: { restart: "1" } },
      { tls: { ...always, rotate: "1" } },
      { tls: { ...always, issuerRef: { name: "ca-b" } } },
      { tls: { ...always, certificates: [{ alias: "peer", duration: "24h" }] } },
    ].map(token);
    for (const each of tokens) expect(each).toMatch(/^[0-9a-f]{12}$/);
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(token({ tls: structuredClone(always) })).toBe(token({ tls: always }));
  });

  test("follows nothing else", () => {
    const others = { minVersion: "TLS1.3", client: { alsoPlaintext: true }, trustedCAs: [{ pem: CA_A }] };
    expect(token({ tls: { ...always, ...others }, extraArgs: { "pre-vote": true } })).toBe(token({ tls: always }));
    expect(token({ rollout: { restart: "1", stepTimeout: "9m" }, tls: { issuerRef, rotate: "1" } })).toBe(
      token({ rollout: { restart: 1 } }),
    );
  });
});

describe("values as `pulumi config set` stores them", () => {
  test.each([
    [
      "numbers and switches as text",
      { replicas: "5", createNamespace: "false" },
      { replicas: 5, createNamespace: false },
    ],
    ["text that looks like a number", { extraArgs: { "max-txn-ops": 256 } }, { extraArgs: { "max-txn-ops": "256" } }],
    ["objects as JSON text", { storage: '{"size":"2Gi"}' }, { storage: { size: "2Gi" } }],
    ["the workload as a word", { workload: "PetSet" }, { workload: { kind: "PetSet", podPlacementPolicy: "default" } }],
  ])("%s", (_, raw, expected) => {
    expect(parseSpec(raw).spec).toMatchObject(expected);
  });
});

describe("warnings", () => {
  test.each<[Record<string, unknown>, string[]]>([
    [{ replicas: 3 }, []],
    [{ replicas: 4 }, ["etcd:replicas"]],
    [{ version: "3.6.1", image: "x/etcd:v3.6.2" }, ["etcd:version"]],
    [{ extraArgs: { "unsafe-no-fsync": true } }, ["etcd:extraArgs.unsafe-no-fsync"]],
    [{ tls: { issuerRef } }, []],
    [{ tls: { issuerRef, client: { auth: "required", alsoPlaintext: false } } }, []],
    [{ tls: { issuerRef, client: { alsoPlaintext: true } } }, ["etcd:tls.client.alsoPlaintext"]],
    [{ tls: { issuerRef, client: { auth: "none" } } }, ["etcd:tls.client.auth"]],
    [
      { tls: { issuerRef, client: { auth: "none", alsoPlaintext: true } } },
      ["etcd:tls.client.alsoPlaintext", "etcd:tls.client.auth"],
    ],
  ])("%j", (raw, paths) => {
    expect(parseSpec(raw).warnings.map(({ path }) => path)).toEqual(paths);
  });
});

describe("what is no part of the members", () => {
  test("the workload is protected unless that is switched off", () => {
    expect(parseSpec({}).protect).toBe(true);
    expect(parseSpec({ protect: "false" }).protect).toBe(false);
    expect(parseSpec({ protect: false }).spec).toEqual(parseSpec({}).spec);
  });

  test("the user of etcd's authentication is the name of a Secret", () => {
    expect(parseSpec({}).spec).not.toHaveProperty("auth");
    expect(parseSpec({ auth: { secretName: "etcd-root" } }).spec.auth).toEqual({ secretName: "etcd-root" });
    expect(() => parseSpec({ auth: {} })).toThrow(/etcd:auth\.secretName: is required/);
    expect(() => parseSpec({ auth: { secretName: "Not A Name" } })).toThrow(/etcd:auth\.secretName = "Not A Name"/);
  });

  test("a password in the config is refused, and not repeated", () => {
    expect(() => parseSpec({ auth: { secretName: "a", password: "hunter2" } })).toThrow(/etcd:auth\.password: is not/);
    expect(() => parseSpec({ auth: { secretName: "a", password: "hunter2" } })).not.toThrow(/hunter2/);
  });
});
