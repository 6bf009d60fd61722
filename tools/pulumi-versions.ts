import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "./errors.ts";

const packageFile = join(import.meta.dirname, "..", "package.json");

/** The Pulumi CLI that is built: the same release as the SDK. */
export const pulumiVersion = "3.276.0";

/** The packages that programs use, by Pulumi's names: each needs the plugin that its npm package asks for. */
export const pulumiPackages = ["kubernetes", "tls"] as const;

export type PulumiPackage = (typeof pulumiPackages)[number];

export function pluginBinary(name: PulumiPackage): string {
  return `pulumi-resource-${name}`;
}

/**
 * The plugin has to call itself what the program's npm package asks for, or
 * else Pulumi goes and looks for another one.
 */
export function pluginVersion(name: PulumiPackage): string {
  const manifest = JSON.parse(readFileSync(packageFile, "utf8"));
  const version: string = manifest.dependencies?.[`@pulumi/${name}`] ?? "";
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new UserError(
      `package.json: dependencies["@pulumi/${name}"] is "${version}": pin it to one version, as in "4.34.2"`,
    );
  }
  return version;
}
