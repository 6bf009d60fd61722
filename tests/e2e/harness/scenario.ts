import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EtcdUser } from "../writer/config";
import { leafSecret, type Source } from "./certificates";
import { deployerKubeconfig, mayReadCa, revokeDeployer } from "./deployer";
import { type Environment, environment, workFolder } from "./environment";
import { deleteClusterIssuer, makeClusterIssuer, makeIssuer } from "./issuers";
import { Kube } from "./kube";
import { memberPod } from "./pod-watch";
import { PulumiStack } from "./pulumi";
import { type SecretValue, secretsOfKubeconfig, secretsOfObject } from "./secret-scan";
import type { PodState } from "./timeline";

export interface ScenarioOptions {
  /** Part of the names of its stack and namespace. */
  name: string;
  replicas: number;
  /** Which kind of issuer is made for it. */
  issuerKind: "Issuer" | "ClusterIssuer";
}

/** Name of the cluster in every case: namespaces keep them apart. */
export const CLUSTER = "etcd";

/** A stack, a namespace and an issuer of one case's own. */
export class Scenario {
  readonly environment: Environment = environment();
  readonly kube = new Kube(this.environment.kubeconfig);
  readonly namespace: string;
  readonly folder: string;
  readonly issuerName: string;
  readonly members: { name: string; address: string }[];
  /** Where the certificates come from, as the settings have it. */
  source: Source = "issuer";
  /** Whose certificate clients show. */
  clientShows: "client" | "server" = "client";
  /** As whom clients come, once etcd's authentication is on. */
  user: EtcdUser | undefined;
  /** Everything that reaches beyond the namespace, to be taken away at the end. */
  readonly #cleanUps: (() => Promise<unknown>)[] = [];
  readonly #secrets = new Map<string, SecretValue>();
  #stack: PulumiStack | undefined;
  /** Content of the kubeconfig that the product is run with. */
  #deployer = "";

  private constructor(readonly options: ScenarioOptions) {
    const unique = `${options.name}-${randomBytes(3).toString("hex")}`;
    this.namespace = `etcd-e2e-${unique}`;
    this.folder = join(workFolder, unique);
    this.issuerName = options.issuerKind === "Issuer" ? "etcd-ca" : this.namespace;
    this.members = Array.from({ length: options.replicas }, (_, ordinal) => {
      const name = `${CLUSTER}-${ordinal}`;
      const host = `${name}.${CLUSTER}-pods.${this.namespace}.svc.${this.environment.clusterDomain}`;
      return { name, address: `${host}:2379` };
    });
  }

  static async open(options: ScenarioOptions): Promise<Scenario> {
    const scenario = new Scenario(options);
    try {
      await scenario.#prepare();
      return scenario;
    } catch (error) {
      // What went wrong first is what matters.
      await scenario.close().catch(() => undefined);
      throw error;
    }
  }

  get stack(): PulumiStack {
    if (!this.#stack) throw new Error("the scenario is not open");
    return this.#stack;
  }

  async #prepare(): Promise<void> {
    await this.kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: this.namespace } });
    if (this.options.issuerKind === "Issuer") await makeIssuer(this.kube, this.namespace, this.issuerName);
    else await makeClusterIssuer(this.kube, this.issuerName);
    this.#cleanUps.push(() => revokeDeployer(this.kube, this.namespace));
    const KUBECONFIG = await deployerKubeconfig(this.kube, this.namespace, this.folder);
    this.#deployer = readFileSync(KUBECONFIG, "utf8");
    if (this.options.issuerKind === "ClusterIssuer") await this.#letReadCa(this.issuerName);
    const variables = { ...this.environment.variables, KUBECONFIG };
    this.#stack = await PulumiStack.create({ ...this.environment, variables }, this.namespace, this.folder);
    const { image } = this.environment;
    await this.#stack.set({
      "etcd:name": CLUSTER,
      "etcd:namespace": this.namespace,
      "etcd:createNamespace": "false",
      "etcd:protect": "false",
      "etcd:replicas": String(this.options.replicas),
      "etcd:clusterDomain": this.environment.clusterDomain,
      "etcd:storage.size": "256Mi",
      "etcd:resources.requests.cpu": "50m",
      "etcd:resources.requests.memory": "64Mi",
      "etcd:rollout.stepTimeout": "2m",
      ...(image && { "etcd:image": image }),
    });
  }

  /** A ClusterIssuer of this case's own, with a CA of its own or made by `make`; returns its name. */
  async clusterIssuer(suffix: string, make = makeClusterIssuer): Promise<string> {
    const name = `${this.namespace}-${suffix}`;
    this.#cleanUps.push(() => deleteClusterIssuer(this.kube, name));
    await make(this.kube, name);
    await this.#letReadCa(name);
    return name;
  }

  /** What a preview knows of a ClusterIssuer's CA it knows from its Secret. */
  async #letReadCa(issuer: string): Promise<void> {
    this.#cleanUps.push(await mayReadCa(this.kube, this.namespace, issuer));
  }

  /** Sets what a user sets to have TLS. */
  async addTls(): Promise<void> {
    await this.takeCertificatesFrom("issuer", {
      "etcd:tls.issuerRef.kind": this.options.issuerKind,
      "etcd:tls.issuerRef.name": this.issuerName,
    });
  }

  /** Sets where certificates come from, in the place of what was set before. */
  async takeCertificatesFrom(source: Source, settings: Record<string, string>): Promise<void> {
    const key = { issuer: "issuerRef", ca: "ca", secrets: "secrets" } as const;
    if (source !== this.source && (await this.stack.has("etcd:tls"))) {
      await this.stack.unset(`etcd:tls.${key[this.source]}`);
    }
    await this.stack.set(settings);
    this.source = source;
  }

  async removeTls(): Promise<void> {
    await this.stack.unset("etcd:tls");
  }

  /** Secrets in which a client finds its certificate, the one that is to be there in the end first. */
  get clientSecrets(): string[] {
    const others = (["issuer", "ca", "secrets"] as const).filter((source) => source !== this.source);
    return [this.source, ...others].map((source) => leafSecret(this.clientShows, source));
  }

  async pods(): Promise<PodState[]> {
    const pods = await this.kube.list("v1", "Pod", this.namespace);
    return pods.map(memberPod).filter((pod) => pod !== undefined);
  }

  /** Everything secret that the cluster has had so far, and what the kubeconfig holds. */
  async secrets(): Promise<SecretValue[]> {
    for (const object of await this.kube.list("v1", "Secret", this.namespace)) {
      for (const secret of secretsOfObject(object)) this.#secrets.set(secret.bytes.toString("base64"), secret);
    }
    const kubeconfigs = [this.kube.kubeconfigText(), this.#deployer];
    return [...this.#secrets.values(), ...kubeconfigs.flatMap(secretsOfKubeconfig)];
  }

  /** Takes everything away, whatever state it is in; PULUMI_ETCD_E2E_KEEP=1 leaves it for a look. */
  async close(): Promise<void> {
    if (process.env.PULUMI_ETCD_E2E_KEEP) {
      process.stderr.write(`kept: stack and namespace ${this.namespace}, files in ${this.folder}\n`);
      return;
    }
    const failures: string[] = [];
    const attempt = async (step: () => Promise<unknown>) => {
      await step().catch((error: Error) => failures.push(error.message));
    };
    // Everything that a stack makes is in its namespace; that destroy takes it away too has a case of its own.
    await attempt(() => this.kube.deleteNamespace(this.namespace, 180_000));
    if (this.options.issuerKind === "ClusterIssuer") {
      await attempt(() => deleteClusterIssuer(this.kube, this.issuerName));
    }
    for (const cleanUp of this.#cleanUps) await attempt(cleanUp);
    if (this.#stack) await attempt(() => this.stack.remove());
    if (failures.length > 0) throw new Error(`not everything could be taken away:\n${failures.join("\n")}`);
  }
}
