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

/** An SSH server, for the tests of hosts without Kubernetes: run on loopback as a process, never as a service. */
const opensshPackages = [
  "openssh-server",
  "libaudit1",
  "libcap-ng0",
  "libgssapi-krb5-2",
  "libk5crypto3",
  "libkeyutils1",
  "libkrb5-3",
  "libkrb5support0",
  "libnsl2",
  "libtirpc3",
  "libwrap0",
];

export function debianFolder(): string {
  return cachedFolder("debian", debianKey(packages));
}

export function opensshFolder(): string {
  return cachedFolder("openssh", debianKey(opensshPackages));
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
  await cached("debian", debianKey(packages), (folder) => unpack(folder, packages, "the local cluster"));
}

export async function fetchOpenssh(): Promise<void> {
  await cached("openssh", debianKey(opensshPackages), (folder) => unpack(folder, opensshPackages, "the test of hosts"));
}

function debianKey(names: string[]): string {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return hash(JSON.stringify(names), release.match(/^VERSION_ID=.*$/m)?.[0] ?? "", arch());
}

async function unpack(folder: string, names: string[], user: string): Promise<void> {
  if (!onPath("apt-get") || !onPath("dpkg-deb")) {
    throw new UserError(
      `apt-get and dpkg-deb are missing: ${user} takes ${names.slice(0, 3).join(", ")} from Debian. ` +
        "Use a Debian 12 machine; for the end-to-end suite a cluster of your own will do: set KUBECONFIG",
    );
  }
  // The download needs the package lists, which a container image comes without.
  if (!succeeds("apt-cache", ["show", names[0] as string])) await output("apt-get", ["update", "-q"]);
  const archives = join(folder, "archives");
  mkdirSync(archives);
  await output("apt-get", ["-q", "-o", "APT::Sandbox::User=root", "download", ...names], { cwd: archives });
  for (const archive of readdirSync(archives)) {
    await output("dpkg-deb", ["-x", join(archives, archive), folder]);
  }
  rmSync(archives, { recursive: true });
}
