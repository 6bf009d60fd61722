import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingAbilities } from "./cluster/capabilities.ts";
import { repository, stateRoot } from "./cluster/clone.ts";
import { down } from "./cluster/down.ts";
import { describeLacks, up } from "./cluster/up.ts";
import { onPath, output, succeeds } from "./command.ts";
import { environment, givenKubeconfig } from "./environment.ts";
import { UserError } from "./errors.ts";
import { report, step } from "./progress.ts";
import { registerPlugins } from "./pulumi-plugins.ts";
import { clusterTools, ensureTools, pulumiTools } from "./tools.ts";

const stack = "local";

/** A cluster, an issuer, and `pulumi up` of the stack `local`: what a user would do by hand, in order. */
async function demoUp(): Promise<void> {
  await provideCluster();
  const env = { ...process.env, ...(await environment()) };
  await registerPlugins(env);
  await step("cert-manager issuer etcd-ca", () => applyIssuer(env));
  const config = configFile();
  if (!succeeds("pulumi", ["stack", "select", stack], env)) {
    await output("pulumi", ["stack", "init", stack], { cwd: repository, env });
  }
  pulumi(env, ["up", "--stack", stack, ...config, "--yes", "--skip-preview"]);
  await explain(env, config);
}

/** The cluster that the user named, or the local one: then it starts as soon as its own tools are there. */
async function provideCluster(): Promise<void> {
  const given = givenKubeconfig();
  if (given) return useCluster(given);
  const lacks = missingAbilities();
  if (lacks.length > 0) throw new UserError(describeLacks(lacks), 3);
  const waiting = new Set(clusterTools);
  let cluster: Promise<void> | undefined;
  await ensureTools([...clusterTools, ...pulumiTools], (name) => {
    waiting.delete(name);
    if (waiting.size === 0) cluster ??= up();
    cluster?.catch(() => {}); // told below, once the tool in hand is made
  });
  await cluster;
}

async function useCluster(kubeconfig: string): Promise<void> {
  report(
    `using the cluster of ${kubeconfig}: no tools of a local cluster are needed, only the Pulumi CLI and its plugins`,
  );
  if (!onPath("kubectl")) {
    throw new UserError(
      "kubectl is missing: install it and put it on PATH, or run `make demo` without KUBECONFIG for a local cluster",
    );
  }
  await ensureTools(pulumiTools);
}

/** The local stack's image is known to the local cluster alone; another cluster pulls the public one. */
function configFile(): string[] {
  if (!givenKubeconfig()) return [];
  const text = readFileSync(join(repository, "stacks", `Pulumi.${stack}.yaml`), "utf8");
  const file = join(stateRoot, `Pulumi.${stack}.yaml`);
  const image = process.env.PULUMI_ETCD_DEMO_IMAGE;
  mkdirSync(stateRoot, { recursive: true, mode: 0o700 });
  writeFileSync(file, text.replace(/^ *etcd:image:.*\n/m, image ? `  etcd:image: ${image}\n` : ""));
  return ["--config-file", file];
}

async function applyIssuer(env: NodeJS.ProcessEnv): Promise<void> {
  await output("kubectl", ["apply", "-f", join(repository, "tools", "demo", "issuer.yaml")], { env });
  await output("kubectl", ["-n", "etcd", "wait", "--for=condition=Ready", "issuer/etcd-ca", "--timeout=60s"], { env });
}

function pulumi(env: NodeJS.ProcessEnv, args: string[]): void {
  const { status } = spawnSync("pulumi", args, { cwd: repository, env, stdio: "inherit" });
  if (status !== 0) throw new UserError(`pulumi ${args.join(" ")} failed: fix what it says and run "make demo" again`);
}

interface Output {
  endpoints: string[];
  members: { name: string; id: string; peerUrls: string[] }[];
  clientSecretName: string;
}

async function explain(env: NodeJS.ProcessEnv, config: string[]): Promise<void> {
  const text = await output("pulumi", ["stack", "output", "--json", "--stack", stack], { cwd: repository, env });
  const { endpoints, members, clientSecretName } = JSON.parse(text) as Output;
  const rows = members.map(({ name, id, peerUrls }) => `  ${name}  ${id}  ${peerUrls.join(",")}`);
  const extra = config.map((word) => ` ${word}`).join("");
  const given = givenKubeconfig();
  const back = given ? `make demo KUBECONFIG=${given}` : `git checkout stacks/Pulumi.${stack}.yaml && pulumi up`;
  process.stdout.write(`
etcd is running. Its members:
${rows.join("\n")}

Clients in the cluster use ${endpoints[0]}
with the certificate in Secret etcd/${clientSecretName} and the CAs in ConfigMap etcd/etcd-trust-bundle.

Use it from this shell:
  eval "$(make -s env${given ? ` KUBECONFIG=${given}` : ""})"
  kubectl -n etcd get pods
  kubectl -n etcd port-forward etcd-0 2379

Change its TLS while it runs:
  pulumi config rm tls${extra} && pulumi preview --diff${extra}   # what removing TLS would do, member by member
  pulumi up${extra}                                   # do it
  ${back}   # and back

Remove everything: make demo-down${given ? ` KUBECONFIG=${given}` : ""}
`);
}

/** A cluster that the user named keeps running; only what the demo made in it goes. */
async function demoDown(): Promise<void> {
  if (!givenKubeconfig()) return down();
  await useCluster(givenKubeconfig() as string);
  const env = { ...process.env, ...(await environment()) };
  await registerPlugins(env);
  pulumi(env, ["destroy", "--stack", stack, ...configFile(), "--yes"]);
  await output("kubectl", ["delete", "--ignore-not-found", "-f", join(repository, "tools", "demo", "issuer.yaml")], {
    env,
  });
}

try {
  await (process.argv[2] === "down" ? demoDown() : demoUp());
} catch (error) {
  report(error instanceof UserError ? error.message : String((error as Error).stack ?? error));
  process.exitCode = error instanceof UserError ? error.exitCode : 1;
}
