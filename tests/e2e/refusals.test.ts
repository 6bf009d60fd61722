import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBrokenIssuer, makeIssuer, makeSelfSignedIssuer } from "./harness/issuers";
import { CLUSTER, Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

/** What is refused, the settings that bring it about, and what the refusal must say: path, value, rule and mend. */
interface Refusal {
  what: string;
  set: Record<string, string>;
  says: string[];
}

const issuer = (name: string, kind = "Issuer") => ({
  "etcd:tls.issuerRef.kind": kind,
  "etcd:tls.issuerRef.name": name,
});

const REFUSALS: Refusal[] = [
  { what: "a key that nobody knows", set: { "etcd:replica": "3" }, says: ["etcd:replica", "replicas"] },
  {
    what: "a name that is too long",
    set: { "etcd:name": "e".repeat(53) },
    says: [`etcd:name = "${"e".repeat(53)}"`, "52 characters", "Choose a shorter name"],
  },
  {
    what: "a variable of etcd's own",
    set: { "etcd:extraEnv[0].name": "ETCD_NAME", "etcd:extraEnv[0].value": "x" },
    says: ['etcd:extraEnv[0].name = "ETCD_NAME"', "must not begin with ETCD_", "etcd:extraArgs"],
  },
  {
    what: "a flag that the product sets",
    set: { "etcd:extraArgs.data-dir": "/somewhere" },
    says: ["etcd:extraArgs.data-dir", "is set by the product itself"],
  },
  {
    what: "certificates without an issuer",
    set: { "etcd:tls.certificates[0].alias": "server" },
    says: ["etcd:tls.issuerRef", "tls.issuerRef is required for Etcd ReconfigureTLS", "Name an issuer"],
  },
  {
    what: "an issuer that does not exist",
    set: issuer("absent"),
    says: ['etcd:tls.issuerRef.name = "absent"', "does not exist", "Make it first"],
  },
  {
    what: "the other kind of issuer",
    set: issuer("etcd-ca", "ClusterIssuer"),
    says: ['etcd:tls.issuerRef.kind = "ClusterIssuer"', "there is an Issuer of that name", "issuerRef.kind to Issuer"],
  },
  {
    what: "a kind that is no issuer",
    set: issuer("etcd-ca", "Authority"),
    says: ['etcd:tls.issuerRef.kind = "Authority"', "must be Issuer or ClusterIssuer"],
  },
  {
    what: "an issuer of another namespace",
    set: issuer("elsewhere"),
    says: ['etcd:tls.issuerRef.name = "elsewhere"', "is in namespace", "use a ClusterIssuer"],
  },
  {
    what: "an issuer that is not Ready",
    set: issuer("broken"),
    says: ['etcd:tls.issuerRef.name = "broken"', "is not Ready", "mend it first"],
  },
  {
    what: "a self-signed issuer",
    set: issuer("self-signed"),
    says: ['etcd:tls.issuerRef.name = "self-signed"', "is self-signed", "a CA issuer"],
  },
];

describeOnCluster("bad input is refused in preview, and nothing is changed", () => {
  let scenario: Scenario;
  let elsewhere: string;
  let config: string;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "refuse", replicas: 3, issuerKind: "Issuer" });
    const { kube, namespace } = scenario;
    elsewhere = `${namespace}-2`;
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: elsewhere } });
    await makeIssuer(kube, elsewhere, "elsewhere");
    await makeBrokenIssuer(kube, namespace, "broken");
    await makeSelfSignedIssuer(kube, namespace, "self-signed");
    config = scenario.stack.saveConfig();
  }, 240_000);

  afterAll(async () => {
    await scenario?.close();
    if (elsewhere) await scenario.kube.deleteNamespace(elsewhere, 120_000);
  }, 600_000);

  afterEach(() => scenario?.stack.restoreConfig(config));

  /** Everything in the namespace, each object with its version. */
  async function objects(): Promise<string[]> {
    const kinds = [
      ["v1", "Service"],
      ["v1", "Secret"],
      ["v1", "ConfigMap"],
      ["v1", "Pod"],
      ["apps/v1", "StatefulSet"],
      ["policy/v1", "PodDisruptionBudget"],
      ["cert-manager.io/v1", "Certificate"],
    ] as const;
    const found = await Promise.all(
      kinds.map(async ([apiVersion, kind]) =>
        (await scenario.kube.list(apiVersion, kind, scenario.namespace)).map(
          ({ metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`,
        ),
      ),
    );
    return found.flat().sort();
  }

  async function expectRefused(set: Record<string, string>, says: string[], env?: NodeJS.ProcessEnv): Promise<void> {
    const before = await objects();
    if (Object.keys(set).length > 0) await scenario.stack.set(set);
    const printed = await scenario.stack.previewRefused(env);
    for (const part of says) expect(printed).toContain(part);
    expect(await objects()).toEqual(before);
    expect(await scenario.stack.resourceCount()).toBe(0);
  }

  test.each(REFUSALS)("$what", ({ set, says }) => expectRefused(set, says), 120_000);

  test("a workload whose kind is not installed", async () => {
    if (await scenario.kube.serves("apps.k8s.appscode.com/v1", "PetSet")) {
      process.stderr.write("PetSet is installed in this cluster: that it is missing cannot be tried\n");
      return;
    }
    await expectRefused({ "etcd:workload.kind": "PetSet" }, [
      'etcd:workload = "PetSet"',
      "its CustomResourceDefinition is not installed",
      "use the workload StatefulSet",
    ]);
  }, 120_000);

  test("a Kubernetes cluster that does not answer", async () => {
    const server = "https://127.0.0.1:1";
    const kubeconfig = join(scenario.folder, "nowhere.kubeconfig");
    const cluster = { name: "nowhere", cluster: { server, "insecure-skip-tls-verify": true } };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [cluster],
        // Without a token Pulumi's Kubernetes plugin would ask for a user name, and wait.
        users: [{ name: "nobody", user: { token: "none" } }],
        contexts: [{ name: "nowhere", context: { cluster: "nowhere", user: "nobody" } }],
        "current-context": "nowhere",
      }),
    );
    await expectRefused({}, [server, "Check that the cluster runs"], { KUBECONFIG: kubeconfig });
  }, 240_000);

  test("a workload of that name that belongs to somebody else", async () => {
    const { kube, namespace } = scenario;
    const labels = { app: "foreign" };
    await kube.apply({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: CLUSTER, namespace },
      spec: {
        replicas: 0,
        serviceName: "foreign",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "localhost/none" }] } },
      },
    });
    try {
      await expectRefused({}, [`etcd:name = "${CLUSTER}"`, "exists already and belongs to somebody else", "Choose"]);
    } finally {
      await kube.delete("apps/v1", "StatefulSet", CLUSTER, namespace);
    }
  }, 120_000);
});
