import { createServer } from "node:net";
import { copiedSecret, leafSecret, membership, rollout, trustBundle } from "../../components/providers";
import { check, diffWhen, same } from "../../components/providers/base";
import { endWithEngine } from "../../components/providers/engine-connection";
import { parseSpec } from "../../config";
import { Refusal } from "../../rollout";

const TLS = { issuerRef: { kind: "ClusterIssuer", name: "ca-a" } };
const spec = (raw: Record<string, unknown> = {}) => parseSpec({ tls: TLS, ...raw }).spec;
const common = { resourceUrn: "urn:pulumi:test::etcd::x::etcd" };

describe("the walk is a difference", () => {
  const state = { ...common, spec: spec(), owner: "me", settled: "A", plan: ["pass 1/1: restart etcd-0"] };
  const next = { ...state, plan: [] };
  const changed = async (news: object) => (await rollout.diff("id", state, { ...next, ...news })).changes !== false;

  test.each([
    ["when nothing changed: no", {}, false],
    ["when the cluster is not where the spec wants it", { plan: ["pass 1/1: restart etcd-0"] }, true],
    ["when the spec changed", { spec: spec({ replicas: 5 }) }, true],
    ["when other CAs are wanted", { settled: "A+B" }, true],
    ["when a leaf is new that cert-manager did not make", { leaves: { server: "f2" } }, true],
    ["when the resource was only renamed: no", { resourceUrn: "urn:pulumi:test::etcd::x::other" }, false],
  ])("%s", async (_, news, expected) => expect(await changed(news)).toBe(expected));
});

describe("the trust bundle is a difference", () => {
  const state = { ...common, spec: spec(), owner: "me", expected: "rev-a", present: true };
  const changed = async (news: object) =>
    (await trustBundle.diff("id", state, { ...state, ...news })).changes !== false;

  test.each([
    ["when nothing changed: no", {}, false],
    ["when another issuer is named", { spec: spec({ tls: { issuerRef: { name: "ca-b" } } }) }, true],
    [
      "when other names are asked for",
      { spec: spec({ tls: { ...TLS, certificates: [{ alias: "server", dnsNames: ["x.example.org"] }] } }) },
      true,
    ],
    ["when the certificates are to be rotated", { spec: spec({ tls: { ...TLS, rotate: "1" } }) }, true],
    ["when flags of etcd change: no", { spec: spec({ tls: TLS, extraArgs: { "snapshot-count": 5000 } }) }, false],
    ["when the CA behind the issuer changed", { expected: "rev-b" }, true],
    ["when the CA cannot be seen this time: no", { expected: undefined }, false],
    ["when somebody took the ConfigMap away", { present: false }, true],
    ["when the CA of its own is another", { ca: "CA 2" }, true],
    ["when members are yet to be made to trust something", { unfinished: true }, true],
  ])("%s", async (_, news, expected) => expect(await changed(news)).toBe(expected));
});

const secret = { ...common, namespace: "db", secretName: "etcd-server-own-cert", certificateName: "etcd-server-cert" };

describe("a leaf of the own CA is a difference", () => {
  const state = { ...secret, cluster: "etcd", certificate: "C", key: "K", ca: "A", intact: true };
  const diff = (news: object) => leafSecret.diff("id", state, { ...state, ...news });

  test("when its certificate, key or CA is another, or its Secret was changed by somebody", async () => {
    expect(await diff({})).toEqual({ changes: false });
    for (const news of [{ certificate: "C2" }, { key: "K2" }, { ca: "A2" }]) expect(await diff(news)).toEqual({});
    expect(await diff({ intact: false })).toEqual({ changes: true });
  });

  test("and another Secret takes its place, which is made before this one goes", async () => {
    expect(await diff({ secretName: "other" })).toEqual({ changes: true, replaces: ["secretName"] });
  });
});

test("a copy is a difference when what it is a copy of has changed, or the copy has", async () => {
  const state = { ...secret, spec: spec(), alias: "server" as const, fingerprint: "f1", current: true };
  const diff = (news: object) => copiedSecret.diff("id", state, { ...state, ...news });
  expect(await diff({})).toEqual({ changes: false });
  expect(await diff({ fingerprint: "f2" })).toEqual({});
  expect(await diff({ current: false })).toEqual({ changes: true });
  expect(await diff({ namespace: "other" })).toEqual({ changes: true, replaces: ["namespace"] });
});

test("the verification is a difference after every walk, and where the cluster has drifted", async () => {
  const state = { ...common, spec: spec(), rolloutCompletedAt: "t1" };
  expect(await membership.diff("id", state, { ...state, drift: [] })).toEqual({ changes: false });
  expect(await membership.diff("id", state, { ...state, rolloutCompletedAt: "t2" })).toEqual({});
  expect(await membership.diff("id", state, { ...state, drift: ["etcd-0: is not ready"] })).toEqual({
    changes: true,
  });
});

test("another wish leaves the fields to Pulumi, which shows them one by one", () => {
  expect(diffWhen(true)).toEqual({});
  expect(diffWhen(true, true)).toEqual({});
  expect(diffWhen(false)).toEqual({ changes: false });
});

test("what is found is a difference although the same was found, and mended, before", async () => {
  const plan = ["pass 1/1: restart etcd-0"];
  const walked = { ...common, spec: spec(), owner: "me", settled: "A", plan };
  expect(await rollout.diff("id", walked, walked)).toEqual({ changes: true });
  const bundle = { ...common, spec: spec(), owner: "me", present: false };
  expect(await trustBundle.diff("id", bundle, bundle)).toEqual({ changes: true });
  const drifted = { ...common, spec: spec(), rolloutCompletedAt: "t1", drift: ["etcd-0: is not ready"] };
  expect(await membership.diff("id", drifted, drifted)).toEqual({ changes: true });
});

test("the order of keys is no difference, that of list items is", () => {
  expect(same({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
  expect(same({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
});

describe("what speaks against an update", () => {
  beforeAll(() => {
    // A kubeconfig that can be read is enough: nothing is asked of the cluster.
    const kubeconfig = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "u", user: { token: "t" } }],
    });
    rollout.configure({
      config: { get: (key: string) => (key.endsWith("kubeconfig") ? kubeconfig : undefined) },
    } as never);
  });

  test("is one failure a problem, beside no property, and changes no input", async () => {
    const problem = (path: string) => ({ path, value: 0, rule: "must hold", mend: "Mend it" });
    const result = await check({ ...common, dryRun: true, spec: 1 }, async () => {
      throw new Refusal([problem("etcd:replicas"), problem("etcd:name")]);
    });
    expect(result).toEqual({
      inputs: { ...common, spec: 1 },
      failures: [
        { property: "", reason: "etcd:replicas = 0: must hold. Mend it" },
        { property: "", reason: "etcd:name = 0: must hold. Mend it" },
      ],
    });
  });

  test("and what was found is added to the inputs, without the preview flag", async () => {
    const result = await check({ ...common, dryRun: false }, async () => ({ plan: ["x"] }));
    expect(result).toEqual({ inputs: { ...common, plan: ["x"] }, failures: [] });
  });
});

test("a provider whose Pulumi engine is gone ends, and not before", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const argument = process.argv[2];
  process.argv[2] = `127.0.0.1:${(server.address() as { port: number }).port}`;
  let ended = 0;
  endWithEngine(() => {
    ended += 1;
  });
  process.argv[2] = argument as string;
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(ended).toBe(0);
  await new Promise((resolve) => server.close(resolve));
  await new Promise((resolve) => setTimeout(resolve, 4500));
  expect(ended).toBe(1);
}, 15_000);
