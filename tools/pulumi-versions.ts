import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "./errors.ts";

const packageFile = join(import.meta.dirname, "..", "package.json");

/** The Pulumi CLI that is built: the same release as the SDK. */
export const pulumiVersion = "3.276.0";

/**
 * The plugin has to call itself what the program's npm package asks for, or
 * else Pulumi goes and looks for another one.
 */
export function kubernetesPluginVersion(): string {
  const manifest = JSON.parse(readFileSync(packageFile, "utf8"));
  const version: string = manifest.dependencies?.["@pulumi/kubernetes"] ?? "";
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new UserError(
      `package.json: dependencies["@pulumi/kubernetes"] is "${version}": pin it to one version, as in "4.34.2"`,
    );
  }
  return version;
}
