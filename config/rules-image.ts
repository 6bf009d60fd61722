import { configPath } from "./problems";
import type { Input } from "./schema";
import type { ConfigProblem, EtcdSpec } from "./types";
import { minorOf } from "./versions";

/** The etcd version that an image's tag names, such as 3.7.3 of `quay.io/coreos/etcd:v3.7.3`. */
export function versionInTag(image: string | undefined): string | undefined {
  return /:v?(\d+\.\d+\.\d+)(?:-[\w.-]+)?(?:@.*)?$/.exec(image ?? "")?.[1];
}

/** Which version runs decides about flags and about where the members may go: it is never guessed. */
export function imageProblems({ image, version }: Input, spec: EtcdSpec): ConfigProblem[] {
  if (image === undefined) return [];
  const tagged = versionInTag(image);
  if (tagged === undefined) return version === undefined ? [versionless(image)] : [];
  if (minorOf(tagged) === minorOf(spec.version)) return [];
  return [
    {
      path: configPath(["image"]),
      value: image,
      rule: `names etcd ${tagged}, and etcd:version is ${spec.version}: they must be of one minor release`,
      mend: "Leave etcd:version out where the tag is right, or etcd:image where the version is",
    },
  ];
}

function versionless(image: string): ConfigProblem {
  return {
    path: configPath(["version"]),
    rule: `is required with an image whose tag names no version of etcd, such as ${image}`,
    mend: "Write the version of etcd that is in the image",
  };
}

/** Two patch releases of one minor: nothing goes by the difference. */
export function patchInTag({ image, version }: EtcdSpec): ConfigProblem[] {
  const tagged = versionInTag(image);
  if (tagged === undefined || tagged === version) return [];
  return [
    {
      path: configPath(["version"]),
      value: version,
      rule: `differs from the version in the image's tag, ${tagged}`,
      mend: "Leave etcd:version out where the tag is right",
    },
  ];
}
