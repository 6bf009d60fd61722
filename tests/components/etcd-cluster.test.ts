import * as pulumi from "@pulumi/pulumi";
import { EtcdCluster } from "../../components";
import { demandTrusted } from "../../components/issued-for";
import { loader } from "../../components/loader";
import { demandWalked } from "../../components/workload";
import { type EtcdSpec, parseSpec } from "../../config";
import { renderCertificates } from "../../manifests";

interface Registered {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
}

const registered: Registered[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        registered.push({ type, name, inputs });
        // What the providers would answer, as far as other resources take it in.
        const answers = { trustRevision: "rev1", completedAt: "2030-01-01T00:00:00Z", settled: "PEM" };
        const made = { privateKeyPem: `key of ${name}`, certPem: `certificate of ${name}`, certRequestPem: "request" };
        return { id: id ?? `${name}-id`, state: { ...inputs, ...answers, ...(type.startsWith("tls:") && made) } };
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

const TLS = { issuerRef: { kind: "ClusterIssuer", name: "internal-ca" } };

/** Declares a cluster and waits until everything is registered. */
async function declare(name: string, args: Record<string, unknown>): Promise<Registered[]> {
  const cluster = new EtcdCluster(name, { name, namespace: name, ...args });
  await new Promise((resolve) => pulumi.all([cluster.endpoints, cluster.lastOperation]).apply(resolve));
  return registered;
}

const position = (all: Registered[], type: RegExp) => all.findIndex((each) => type.test(each.type));

test("trust, certificates, walk, workload, verification: in this order", async () => {
  const all = await declare("ordered", { tls: TLS });
  const order = [/TrustBundle$/, /CertificateSecret$/, /Certificate$/, /Rollout$/, /StatefulSet$/, /Membership$/];
  const positions = order.map((type) => position(all, type));
  expect(positions).not.toContain(-1);
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
});

test("a plain cluster has nothing of TLS", async () => {
  const all = await declare("plain", {});
  expect(all.filter(({ type }) => /Trust|Certificate/.test(type))).toEqual([]);
  expect(position(all, /Rollout$/)).toBeGreaterThan(0);
});

test("the workload takes the trust bundle's revision from the walk, everywhere it stands", async () => {
  const all = await declare("revised", { tls: TLS });
  const { inputs } = all[position(all, /StatefulSet$/)]!;
  const text = JSON.stringify(inputs);
  expect(text).toContain('"pulumi-etcd/trust-revision":"rev1"');
  expect(text).toContain('"key":"members-rev1.crt"');
  expect(text).not.toContain("revision-of-the-trust-bundle");
});

test("the walk is told these things and no others: no kubeconfig, no secret", async () => {
  const all = await declare("owned", { tls: TLS });
  const { inputs } = all[position(all, /Rollout$/)]!;
  expect(inputs.owner).toBe("acme/etcd/test");
  expect(Object.keys(inputs).sort()).toEqual(["__provider", "dryRun", "owner", "resourceUrn", "settled", "spec"]);
});

describe("a CA of the cluster's own", () => {
  const own = { tls: { ca: { generation: 2 }, certificates: [{ alias: "client", sameAs: "server" }] } };
  const named = (all: Registered[], type: RegExp) => all.filter((each) => type.test(each.type)).map(({ name }) => name);

  test("comes before the trust bundle, its leaves after that and before the walk", async () => {
    const all = await declare("own", own);
    const order = [/SelfSignedCert$/, /TrustBundle$/, /LeafSecret$/, /Rollout$/, /StatefulSet$/];
    const positions = order.map((type) => position(all, type));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(all[position(all, /TrustBundle$/)]?.inputs.ca).toBe("certificate of own-ca-2");
  });

  test("has its generation in its name, and one leaf where two aliases share it", async () => {
    const all = await declare("generations", own);
    expect(named(all, /SelfSignedCert$/)).toEqual(["generations-ca-2"]);
    expect(named(all, /LeafSecret$/).sort()).toEqual(["generations-peer", "generations-server"]);
    expect(named(all, /Certificate$|CertificateSecret$/)).toEqual([]);
  });

  test("gives keys to the leaves' Secrets alone, as Pulumi secrets", async () => {
    const all = await declare("keys", own);
    const holding = all.filter(({ inputs }) => JSON.stringify(inputs).includes("key of keys-server"));
    expect(new Set(holding.map(({ type }) => type.split(":").at(-1)))).toEqual(new Set(["CertRequest", "LeafSecret"]));
    const secret = all.find(({ type, name }) => type.endsWith("LeafSecret") && name === "keys-server");
    // How Pulumi hands over what it keeps as a secret.
    expect(JSON.stringify(secret?.inputs.key)).toContain("4dabf18193072939515e22adb298388d");
  });

  test("tells the walk what its leaves are known by, and no more of them", async () => {
    const all = await declare("told", own);
    const { leaves } = all[position(all, /Rollout$/)]!.inputs as { leaves: Record<string, string> };
    expect(Object.keys(leaves).sort()).toEqual(["peer", "server"]);
    for (const each of Object.values(leaves)) expect(each).toMatch(/^[0-9a-f]{16}$/);
  });
});

test("Secrets of somebody else are copied after the trust bundle and before the walk", async () => {
  const all = await declare("given", { tls: { secrets: { server: "s", peer: "p", client: "c" } } });
  const positions = [/TrustBundle$/, /CopiedSecret$/, /Rollout$/].map((type) => position(all, type));
  expect(positions).not.toContain(-1);
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(all.filter(({ type }) => type.startsWith("tls:"))).toEqual([]);
});

test("a workload that the walk has not been told of fails the program", () => {
  const { spec } = parseSpec({ name: "walked" });
  expect(() => demandWalked(structuredClone(spec), spec)).not.toThrow();
  const shuffled = Object.fromEntries(Object.entries(spec).reverse()) as unknown as EtcdSpec;
  expect(() => demandWalked(shuffled, spec)).not.toThrow();
  const wrong = { ...spec, storage: { size: "1Ti" } };
  expect(() => demandWalked(wrong, spec)).toThrow(pulumi.RunError);
  expect(() => demandWalked(wrong, spec)).toThrow(/StatefulSet etcd\/walked: .* have not been walked to this config/);
});

/** Types of the resources that are declared with Pulumi's option `protect`. */
async function protectedTypes(name: string, args: Record<string, unknown>): Promise<string[]> {
  const found: string[] = [];
  const note: pulumi.ResourceTransformation = ({ type, opts }) => {
    if (opts.protect) found.push(type);
    return undefined;
  };
  const cluster = new EtcdCluster(name, { name, namespace: name, ...args }, { transformations: [note] });
  await new Promise((resolve) => pulumi.all([cluster.endpoints, cluster.lastOperation]).apply(resolve));
  return found;
}

test("certificates that the trust bundle was not made for fail the program", () => {
  const spec = (tls: object) => parseSpec({ tls: { ...TLS, ...tls } }).spec;
  const fails = (tls: object) => () => demandTrusted(spec({}), spec(tls), "etcd-peer-cert");
  expect(fails({})).not.toThrow();
  const others = { rotate: "1", issuerRef: { name: "other" }, certificates: [{ alias: "peer", dnsNames: ["x.org"] }] };
  for (const [key, value] of Object.entries(others))
    expect(fails({ [key]: value })).toThrow(/Certificate .*etcd-peer-cert: .*without --target or --exclude/);
});

test("a Certificate is declared as it was rendered", async () => {
  const all = await declare("rendered", { tls: TLS });
  const declared = all.filter(({ type }) => /:Certificate$/.test(type)).map(({ inputs }) => inputs.spec);
  const wanted = renderCertificates(parseSpec({ name: "rendered", namespace: "rendered", tls: TLS }).spec);
  expect(declared).toHaveLength(wanted.length);
  expect(declared).toEqual(expect.arrayContaining(wanted.map(({ spec }) => spec)));
});

test("the workload and the namespace are protected unless the config says otherwise", async () => {
  const ours = ["kubernetes:core/v1:Namespace", "kubernetes:apps/v1:StatefulSet"];
  expect(await protectedTypes("kept", {})).toEqual(ours);
  expect(await protectedTypes("let-go", { protect: "false" })).toEqual([]);
  const petSet = { createNamespace: false, workload: "PetSet" };
  expect(await protectedTypes("pet", petSet)).toEqual(["kubernetes:apps.k8s.appscode.com/v1:PetSet"]);
});

test("two clusters of one name are refused, naming both places", async () => {
  await declare("twin", {});
  expect(() => new EtcdCluster("second", { name: "twin", namespace: "twin" })).toThrow(
    /etcd:name = "twin": this program declares two clusters of that name in namespace twin/,
  );
});

test("what is wrong with the config is told without a stack trace, before anything is declared", () => {
  const declareWrong = () => new EtcdCluster("wrong", { replicas: 0, nmae: "x" });
  expect(declareWrong).toThrow(pulumi.RunError);
  expect(declareWrong).toThrow(/etcd:replicas/);
  expect(registered.filter(({ type }) => type.startsWith("kubernetes:"))).toEqual([]);
});

test("the provider code in the state is the same small loader whatever the package does", async () => {
  const all = await declare("small", { tls: TLS });
  const code = all.flatMap(({ inputs }) => (typeof inputs.__provider === "string" ? [inputs.__provider] : []));
  expect(code.length).toBeGreaterThanOrEqual(6);
  for (const text of code) {
    expect(text.length).toBeLessThan(4000);
    expect(text).toContain("pulumi-etcd/providers");
  }
  expect(Object.keys(loader("rollout")).sort()).toEqual(
    ["check", "configure", "create", "delete", "diff", "read", "update"].sort(),
  );
});
