import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { paths } from "./cluster/clone.ts";
import { output } from "./command.ts";
import { binary } from "./go-tools.ts";
import { type PulumiPackage, pluginBinary, pluginVersion, pulumiPackages } from "./pulumi-versions.ts";

/** Registers the plugins in this clone's PULUMI_HOME, so that the CLI does not go and download any. */
export async function registerPlugins(env: NodeJS.ProcessEnv): Promise<void> {
  mkdirSync(paths.pulumiHome, { recursive: true, mode: 0o700 });
  for (const name of pulumiPackages) await registerPlugin(name, env);
}

async function registerPlugin(name: PulumiPackage, env: NodeJS.ProcessEnv): Promise<void> {
  const plugin = binary(pluginBinary(name));
  // The plugin's path holds the hash of what it is built from.
  const record = join(paths.pulumiHome, `${name}-plugin`);
  if (existsSync(record) && readFileSync(record, "utf8") === plugin) return;
  await output(
    binary("pulumi"),
    ["plugin", "install", "resource", name, pluginVersion(name), "--file", plugin, "--reinstall"],
    { env },
  );
  writeFileSync(record, plugin);
}
