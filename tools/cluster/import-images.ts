import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { debianFolder } from "../debian.ts";
import { archive, images } from "../images.ts";
import type { ProcessIdentity } from "../process-identity.ts";
import { paths } from "./clone.ts";
import { asSeenInside, inside } from "./inside.ts";
import { runInside } from "./keeper.ts";
import { eventually } from "./ready.ts";
import { type Settings, writeSettings } from "./settings.ts";

/** Gives containerd the images that it doesn't have yet in their present form. */
export async function importImages(settings: Settings, keeper: ProcessIdentity): Promise<void> {
  const ctr = `${asSeenInside(debianFolder())}/usr/bin/ctr`;
  const call = (...args: string[]) =>
    runInside(keeper, ctr, ["--address", inside.containerdSocket, "--namespace", "k8s.io", ...args]);
  for (const image of images()) {
    if (settings.images[image.name] === image.key) continue;
    const file = join(paths.cluster, "image.tar");
    writeFileSync(file, archive(image));
    await eventually("containerd is not ready", settings, () => call("version"));
    await call("images", "import", asSeenInside(file));
    rmSync(file);
    settings.images[image.name] = image.key;
    writeSettings(settings);
  }
}
