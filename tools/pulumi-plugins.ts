import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { paths } from "./cluster/clone.ts";
import { output } from "./command.ts";
import { binary } from "./go-tools.ts";
import { kubernetesPluginVersion } from "./pulumi-versions.ts";

/** Registers the Kubernetes plugin in this clone's PULUMI_HOME, so that the CLI does not go and download one. */
export async function registerPlugins(env: NodeJS.ProcessEnv): Promise<void> {
  const version = kubernetesPluginVersion();
  const plugin = binary("pulumi-resource-kubernetes");
  // The plugin's path holds the hash of what it is built from.
  const record = join(paths.pulumiHome, "kubernetes-plugin");
  if (existsSync(record) && readFileSync(record, "utf8") === plugin) return;
  mkdirSync(paths.pulumiHome, { recursive: true, mode: 0o700 });
  await output(
    binary("pulumi"),
    ["plugin", "install", "resource", "kubernetes", version, "--file", plugin, "--reinstall"],
    { env },
  );
  writeFileSync(record, plugin);
}
