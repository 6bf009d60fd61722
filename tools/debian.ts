import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { cached, cachedFolder, hash } from "./cache.ts";
import { onPath, output, succeeds } from "./command.ts";
import { UserError } from "./errors.ts";

/**
 * Packages that are unpacked into the cache and never installed: installed,
 * they would replace the parts of a Docker that may be on the machine.
 */
const packages = [
  "containerd",
  "runc",
  "containernetworking-plugins",
  "nftables",
  "iproute2",
  // Libraries of the above, which a small installation lacks.
  "libbpf1",
  "libedit2",
  "libelf1",
  "libjansson4",
  "libmnl0",
  "libnftables1",
  "libnftnl11",
  "libseccomp2",
  "libtirpc3",
  "libxtables12",
  "libbsd0",
  "libmd0",
];

export function debianFolder(): string {
  return cachedFolder("debian", debianKey());
}

/** The environment in which the unpacked programs find each other and their libraries. */
export function debianEnvironment(folder: string): { PATH: string; LD_LIBRARY_PATH: string } {
  const binaries = ["usr/sbin", "usr/bin", "sbin", "bin"].map((name) => join(folder, name));
  const triplet = arch() === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return {
    PATH: [...binaries, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(":"),
    LD_LIBRARY_PATH: [join(folder, "usr/lib", triplet), join(folder, "lib", triplet)].join(":"),
  };
}

export async function fetchDebianPackages(): Promise<void> {
  await cached("debian", debianKey(), unpack);
}

function debianKey(): string {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return hash(JSON.stringify(packages), release.match(/^VERSION_ID=.*$/m)?.[0] ?? "", arch());
}

async function unpack(folder: string): Promise<void> {
  if (!onPath("apt-get") || !onPath("dpkg-deb")) {
    throw new UserError(
      "apt-get and dpkg-deb are missing: the local cluster takes containerd, runc and the CNI plugins from Debian. " +
        "Use a Debian 12 machine, or a cluster of your own: set KUBECONFIG",
    );
  }
  // The download needs the package lists, which a container image comes without.
  if (!succeeds("apt-cache", ["show", "containerd"])) await output("apt-get", ["update", "-q"]);
  const archives = join(folder, "archives");
  mkdirSync(archives);
  await output("apt-get", ["-q", "-o", "APT::Sandbox::User=root", "download", ...packages], { cwd: archives });
  for (const archive of readdirSync(archives)) {
    await output("dpkg-deb", ["-x", join(archives, archive), folder]);
  }
  rmSync(archives, { recursive: true });
}
