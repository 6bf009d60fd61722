import fc from "fast-check";
import { classify, type EtcdSpec, memberHost, parseSpec } from "../../config";
import {
  BRIDGE,
  finalStage,
  type KubeObject,
  type MemberTls,
  PLAIN,
  type PlaneStage,
  renderCertificates,
  renderDisruptionBudget,
  renderNamespace,
  renderServices,
  renderTrustBundle,
  renderWorkload,
  stageOf,
  TEMPLATE_HASH,
  TLS,
  TLS_SETTINGS,
} from "../../manifests";
import { rawConfig, tls } from "../config/arbitraries";
import { CA_A } from "./pem";

const { spec } = parseSpec({ tls: { issuerRef: { name: "ca" } } });
const plain = parseSpec({}).spec;
const stages = { plain: PLAIN, bridge: BRIDGE, tls: TLS };

// biome-ignore lint/suspicious/noExplicitAny: the tests look into rendered JSON of many shapes.
type Json = any;
const podSpec = (workload: KubeObject): Json => (workload.spec as Json).template.spec;
const container = (workload: KubeObject): Json => podSpec(workload).containers[0];
const hash = (workload: KubeObject): string => (workload.spec as Json).template.metadata.annotations[TEMPLATE_HASH];

describe("snapshots", () => {
  test.each(Object.entries(stages))("members on the stage %s", (_, stage) => {
    const trustRevision = stage === PLAIN ? undefined : "0123456789ab";
    expect(renderWorkload(spec, { stage, trustRevision }, { owner: "stack-a" })).toMatchSnapshot();
  });

  const differing = (fields: object, raw: object = {}) => {
    const etcd = parseSpec({ ...raw, tls: { issuerRef: { name: "ca" }, ...fields } }).spec;
    const workload = renderWorkload(etcd, { stage: finalStage(etcd), trustRevision: "0123456789ab" });
    const { [TEMPLATE_HASH]: _, ...annotations } = (workload.spec as Json).template.metadata.annotations;
    const tlsArgs = (args: string[]) =>
      args.filter((arg) => /^--(listen|advertise|tls|cipher|.*-file|.*-auth)/.test(arg));
    const volumes = podSpec(workload).volumes.map((volume: Json) => volume.name);
    return {
      settings: workload.metadata.annotations?.[TLS_SETTINGS],
      annotations,
      args: tlsArgs(container(workload).args),
      volumes,
    };
  };

  test.each<[string, object, object?]>([
    ["plaintext held", { client: { alsoPlaintext: true } }],
    ["no client certificates", { client: { auth: "none" } }],
    ["no client certificates, and plaintext held", { client: { auth: "none", alsoPlaintext: true } }],
    ["TLS 1.3 alone", { minVersion: "TLS1.3" }],
    [
      "cipher suites",
      {
        minVersion: "TLS1.2",
        cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
      },
    ],
    ["restart token", {}, { rollout: { restart: "1" } }],
  ])("what differs with %s", (_, fields, raw = {}) => {
    expect(differing(fields, raw)).toMatchSnapshot();
  });

  test("PetSet", () => {
    const petSet = parseSpec({ workload: { kind: "PetSet", podPlacementPolicy: "spread" } }).spec;
    const { apiVersion, kind, spec: rendered } = renderWorkload(petSet, { stage: PLAIN });
    const { template: _, ...rest } = rendered as Json;
    expect({ apiVersion, kind, rest }).toMatchSnapshot();
  });

  test("everything around the members", () => {
    const around = [renderNamespace(spec), ...renderServices(spec), renderDisruptionBudget(spec)];
    expect([...around, renderTrustBundle(spec, CA_A)]).toMatchSnapshot();
  });

  test("certificates", () => {
    const wishes = {
      alias: "server",
      subject: { organizations: ["Kubernetes"], countries: ["US"] },
      duration: "8760h",
      renewBefore: "720h",
      uris: ["spiffe://cluster.local/ns/etcd"],
      privateKey: { algorithm: "ECDSA" },
    };
    const certificates = [wishes, { alias: "metrics-exporter", issuerRef: { kind: "ClusterIssuer", name: "other" } }];
    expect(renderCertificates(parseSpec({ tls: { issuerRef: { name: "ca" }, certificates } }).spec)).toMatchSnapshot();
  });
});

describe("options of the members", () => {
  test("flags, variables, resources and storage of the user's", () => {
    const wish = {
      extraArgs: { "quota-backend-bytes": 8589934592, "auto-compaction-mode": "periodic" },
      extraEnv: [{ name: "GOGC", value: "50" }],
      resources: { limits: { memory: "1Gi" } },
      storage: { size: "2Gi", class: "" },
      imagePullPolicy: "Never",
    };
    const workload = renderWorkload(parseSpec(wish).spec, { stage: PLAIN });
    expect(container(workload)).toMatchObject({ imagePullPolicy: "Never", resources: { limits: { memory: "1Gi" } } });
    expect(container(workload).args.slice(-2)).toEqual([
      "--auto-compaction-mode=periodic",
      "--quota-backend-bytes=8589934592",
    ]);
    expect(container(workload).env.at(-1)).toEqual({ name: "GOGC", value: "50" });
    expect((workload.spec as Json).volumeClaimTemplates[0].spec).toEqual({
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "2Gi" } },
      storageClassName: "",
    });
  });

  test("without a storage class the field is absent", () => {
    const { volumeClaimTemplates } = renderWorkload(plain, { stage: PLAIN }).spec as Json;
    expect(volumeClaimTemplates[0].spec).not.toHaveProperty("storageClassName");
  });

  test("Secrets are those that the spec names", () => {
    const certificates = [{ alias: "peer", secretName: "my-peer" }];
    const named = parseSpec({ tls: { issuerRef: { name: "ca" }, certificates } }).spec;
    const secrets = podSpec(renderWorkload(named, { stage: TLS })).volumes.map((v: Json) => v.secret?.secretName);
    expect(secrets).toEqual(["etcd-server-cert", "my-peer", undefined]);
  });
});

describe("stages", () => {
  test("the final one follows from the spec", () => {
    const held = parseSpec({ tls: { issuerRef: { name: "ca" }, client: { alsoPlaintext: true } } }).spec;
    expect([finalStage(plain), finalStage(spec)]).toEqual([PLAIN, TLS]);
    expect(finalStage(held)).toEqual({ peer: "tls", client: "bridge" });
  });

  test.each(Object.values(stages))("are read back from the pod template: %j", (stage) => {
    const { template } = renderWorkload(spec, { stage }).spec as Json;
    expect(stageOf(template.metadata.annotations)).toEqual(stage);
  });

  test("are unknown where nothing valid is said", () => {
    expect(stageOf(undefined)).toBeUndefined();
    expect(stageOf({})).toBeUndefined();
    expect(stageOf({ "pulumi-etcd/peer-stage": "tls", "pulumi-etcd/client-stage": "half" })).toBeUndefined();
  });

  test("with TLS need a spec with certificates", () => {
    expect(() => renderWorkload(plain, { stage: BRIDGE })).toThrow(/needs a spec with a server certificate/);
  });
});

describe("annotations of the workload", () => {
  const final = renderWorkload(spec, { stage: TLS }, { owner: "a" });
  const passing = renderWorkload(spec, { stage: TLS }, { owner: "a", intermediate: true });

  test("a template that is passed through differs from the final one, for Pulumi only", () => {
    const keys = (workload: KubeObject) => Object.keys(workload.metadata.annotations ?? {}).sort();
    expect(keys(final)).toEqual([
      "pulumi-etcd/owner",
      "pulumi-etcd/tls",
      "pulumi.com/patchFieldManager",
      "pulumi.com/skipAwait",
    ]);
    expect(keys(passing)).toEqual(["pulumi-etcd/owner", "pulumi-etcd/tls"]);
    expect(passing.spec).toEqual(final.spec);
  });

  test("the TLS settings are names only, and absent on the stage plain", () => {
    const names = ["server", "peer", "client"].map((alias) => ({ alias, secretName: `etcd-${alias}-cert` }));
    expect(JSON.parse(final.metadata.annotations?.[TLS_SETTINGS] ?? "")).toEqual({
      certificates: names,
      client: { auth: "required", alsoPlaintext: false },
      cipherSuites: [],
    });
    expect(renderWorkload(spec, { stage: PLAIN }).metadata.annotations).not.toHaveProperty(TLS_SETTINGS);
  });

  test("the TLS settings render the same pods again, whatever the config", () => {
    fc.assert(
      fc.property(withTls, (etcd) => {
        const workload = renderWorkload(etcd, { stage: BRIDGE });
        const tls: MemberTls = JSON.parse(workload.metadata.annotations?.[TLS_SETTINGS] ?? "");
        expect(renderWorkload({ ...etcd, tls }, { stage: BRIDGE })).toEqual(workload);
      }),
    );
  });

  test("TLS settings of an older record are those with the defaults", () => {
    const { certificates } = spec.tls!;
    const older = renderWorkload({ ...spec, tls: { certificates } }, { stage: TLS });
    expect(older.spec).toEqual(final.spec);
    expect(Object.keys(JSON.parse(older.metadata.annotations?.[TLS_SETTINGS] ?? ""))).toEqual(["certificates"]);
  });

  test("no token of a rotation is in a Certificate", () => {
    const rotated = parseSpec({ tls: { issuerRef: { name: "ca" }, rotate: "a-token" } }).spec;
    expect(renderCertificates(rotated)).toEqual(renderCertificates(spec));
  });

  test("the hash is that of the pod template alone", () => {
    const owned = renderWorkload(spec, { stage: TLS }, { owner: "b" });
    const otherBundle = renderWorkload(spec, { stage: TLS, trustRevision: "b" });
    const slower = renderWorkload({ ...spec, rollout: { stepTimeoutSeconds: 1 } }, { stage: TLS });
    expect([hash(passing), hash(owned), hash(slower)]).toEqual([hash(final), hash(final), hash(final)]);
    expect(hash(otherBundle)).not.toBe(hash(final));
  });
});

const planeStage = fc.constantFrom<PlaneStage>("plain", "bridge", "tls");
const withTls = fc.tuple(rawConfig, tls).map(([raw, section]) => parseSpec({ ...raw, tls: section }).spec);

describe("on every stage of every accepted config", () => {
  const everyStage = (
    check: (workload: KubeObject, etcd: EtcdSpec, stage: { peer: PlaneStage; client: PlaneStage }) => void,
  ) =>
    fc.assert(
      fc.property(withTls, planeStage, planeStage, (etcd, peer, client) =>
        check(renderWorkload(etcd, { stage: { peer, client } }), etcd, { peer, client }),
      ),
    );

  test("no flag appears twice", () => {
    everyStage((workload) => {
      const names = (container(workload).args as string[]).map((arg) => arg.split("=")[0]);
      expect(names.length).toBe(new Set(names).size);
    });
  });

  test("flags name only files that are mounted, and every mount has its volume and its use", () => {
    everyStage((workload) => {
      const { args, volumeMounts } = container(workload);
      const files = (args as string[]).map((arg) => arg.slice(arg.indexOf("=") + 1)).filter((v) => v.startsWith("/"));
      const volumes = [
        ...(podSpec(workload).volumes ?? []),
        ...(workload.spec as Json).volumeClaimTemplates.map((t: Json) => t.metadata),
      ];
      for (const file of files) expect(volumeMounts.some((m: Json) => file.startsWith(`${m.mountPath}/`))).toBe(true);
      for (const mount of volumeMounts) expect(files.some((file) => file.startsWith(`${mount.mountPath}/`))).toBe(true);
      expect(volumes.map((v: Json) => v.name).sort()).toEqual(volumeMounts.map((m: Json) => m.name).sort());
    });
  });

  test("members listen and are registered under the scheme of the stage", () => {
    everyStage((workload, etcd, { peer, client }) => {
      const flag = (name: string) => container(workload).args.find((arg: string) => arg.startsWith(`--${name}=`));
      const scheme = peer === "tls" ? "https" : "http";
      expect(flag("listen-peer-urls")).toBe(`--listen-peer-urls=${scheme}://0.0.0.0:2380`);
      expect(flag("initial-cluster")).toContain(`=${scheme}://${memberHost(etcd, 0)}:2380`);
      const first = flag("listen-client-urls").split("=")[1].split(":")[0];
      expect(first).toBe(client === "plain" ? "http" : "https");
      const asked = client !== "plain" && etcd.tls?.client.auth === "required";
      expect(flag("client-cert-auth") !== undefined).toBe(asked);
      expect(flag("trusted-ca-file") !== undefined).toBe(asked);
      expect(flag("cert-file") !== undefined).toBe(client !== "plain");
      const material = peer !== "plain" || client !== "plain";
      expect(flag("tls-min-version") !== undefined).toBe(material && etcd.tls?.minVersion !== undefined);
      expect(flag("cipher-suites") !== undefined).toBe(material && etcd.tls?.cipherSuites.length !== 0);
      expect(flag("peer-client-cert-auth") !== undefined).toBe(peer !== "plain");
      expect(flag("listen-metrics-urls")).toBe("--listen-metrics-urls=http://0.0.0.0:2381");
    });
  });

  test("objects are plain JSON and the same each time", () => {
    everyStage((workload, etcd, stage) => {
      expect(JSON.parse(JSON.stringify(workload))).toStrictEqual(workload);
      expect(JSON.stringify(renderWorkload(etcd, { stage }))).toBe(JSON.stringify(workload));
    });
  });
});

test("the pod template changes exactly where classify says so", () => {
  fc.assert(
    fc.property(rawConfig, rawConfig, (left, right) => {
      const same = {
        name: "etcd",
        namespace: "etcd",
        replicas: 3,
        workload: "StatefulSet",
        storage: {},
        tls: undefined,
      };
      const [old, next] = [parseSpec({ ...left, ...same }).spec, parseSpec({ ...right, ...same }).spec];
      const changed = hash(renderWorkload(old, { stage: PLAIN })) !== hash(renderWorkload(next, { stage: PLAIN }));
      expect(classify(old, next).templateChanged).toBe(changed);
    }),
  );
});

test("settings of TLS change the pod template exactly where classify says so", () => {
  const settings = ({ client, minVersion, cipherSuites, restartPolicy }: Json) => ({
    issuerRef: { name: "ca" },
    client,
    minVersion,
    cipherSuites,
    restartPolicy,
  });
  fc.assert(
    fc.property(tls, tls, (left, right) => {
      const [old, next] = [parseSpec({ tls: settings(left) }).spec, parseSpec({ tls: settings(right) }).spec];
      const rendered = (etcd: EtcdSpec) => hash(renderWorkload(etcd, { stage: finalStage(etcd) }));
      expect(classify(old, next).templateChanged).toBe(rendered(old) !== rendered(next));
    }),
  );
});
