import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { missingAbilities } from "./cluster/capabilities.ts";
import { repository } from "./cluster/clone.ts";
import { down } from "./cluster/down.ts";
import { describeLacks, up } from "./cluster/up.ts";
import { output, succeeds } from "./command.ts";
import { environment } from "./environment.ts";
import { UserError } from "./errors.ts";
import { report, step } from "./progress.ts";
import { registerPlugins } from "./pulumi-plugins.ts";
import { ensureTools } from "./tools.ts";

const stack = "local";

/** A cluster, an issuer, and `pulumi up` of the stack `local`: what a user would do by hand, in order. */
async function demoUp(): Promise<void> {
  const lacks = missingAbilities();
  if (lacks.length > 0) throw new UserError(describeLacks(lacks), 3);
  await up();
  await ensureTools([]);
  const env = { ...process.env, ...(await environment()) };
  await registerPlugins(env);
  await step("cert-manager issuer etcd-ca", () => applyIssuer(env));
  if (!succeeds("pulumi", ["stack", "select", stack], env)) {
    await output("pulumi", ["stack", "init", stack], { cwd: repository, env });
  }
  pulumi(env, ["up", "--stack", stack, "--yes", "--skip-preview"]);
  await explain(env);
}

async function applyIssuer(env: NodeJS.ProcessEnv): Promise<void> {
  await output("kubectl", ["apply", "-f", join(repository, "tools", "demo", "issuer.yaml")], { env });
  await output("kubectl", ["-n", "etcd", "wait", "--for=condition=Ready", "issuer/etcd-ca", "--timeout=60s"], { env });
}

function pulumi(env: NodeJS.ProcessEnv, args: string[]): void {
  const { status } = spawnSync("pulumi", args, { cwd: repository, env, stdio: "inherit" });
  if (status !== 0) throw new UserError(`pulumi ${args.join(" ")} failed; mend what it says and run "make demo" again`);
}

interface Output {
  endpoints: string[];
  members: { name: string; id: string; peerUrls: string[] }[];
  clientSecretName: string;
}

async function explain(env: NodeJS.ProcessEnv): Promise<void> {
  const text = await output("pulumi", ["stack", "output", "--json", "--stack", stack], { cwd: repository, env });
  const { endpoints, members, clientSecretName } = JSON.parse(text) as Output;
  const rows = members.map(({ name, id, peerUrls }) => `  ${name}  ${id}  ${peerUrls.join(",")}`);
  process.stdout.write(`
etcd is running. Its members:
${rows.join("\n")}

Clients in the cluster use ${endpoints[0]}
with the certificate in Secret etcd/${clientSecretName} and the CAs in ConfigMap etcd/etcd-trust-bundle.

Use it from this shell:
  eval "$(make -s env)"
  kubectl -n etcd get pods
  kubectl -n etcd port-forward etcd-0 2379

Change its TLS while it runs:
  pulumi config rm tls && pulumi preview --diff     # what removing TLS would do, member by member
  pulumi up                                         # do it
  git checkout stacks/Pulumi.local.yaml && pulumi up   # and back

Remove everything: make demo-down
`);
}

try {
  await (process.argv[2] === "down" ? down() : demoUp());
} catch (error) {
  report(error instanceof UserError ? error.message : String((error as Error).stack ?? error));
  process.exitCode = error instanceof UserError ? error.exitCode : 1;
}
