import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { cached, cachedFolder, hash } from "./cache.ts";
import { onPath, output } from "./command.ts";
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

/**
 * What tests call besides: an SSH server, which they run on loopback as a process and never as a service, and OpenSSL.
 */
const testPackages = [
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
  "openssl",
  "libssl3",
];

export function debianFolder(): string {
  return cachedFolder("debian", debianKey(packages));
}

export function testProgramsFolder(): string {
  return cachedFolder("test-programs", debianKey(testPackages));
}

/** The environment in which the unpacked programs find each other and their libraries. */
export function debianEnvironment(folder: string): { PATH: string; LD_LIBRARY_PATH: string } {
  const binaries = ["usr/sbin", "usr/bin", "sbin", "bin"].map((name) => join(folder, name));
  const triplet = libraryFolder();
  return {
    PATH: [...binaries, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(":"),
    LD_LIBRARY_PATH: [join(folder, "usr/lib", triplet), join(folder, "lib", triplet)].join(":"),
  };
}

function libraryFolder(): string {
  return arch() === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

export async function fetchDebianPackages(): Promise<void> {
  await cached("debian", debianKey(packages), (folder) => unpack(folder, packages, "the local cluster"));
}

export async function fetchTestPrograms(): Promise<void> {
  await cached("test-programs", debianKey(testPackages), async (folder) => {
    await unpack(folder, testPackages, "the suite");
    // It finds its libraries and its settings wherever the folder is moved to.
    const triplet = join("usr/lib", libraryFolder());
    mkdirSync(join(folder, "bin"));
    const script = `#!/bin/sh
root=$(dirname "$(dirname "$0")")
LD_LIBRARY_PATH=$root/${triplet} OPENSSL_CONF=$root/etc/ssl/openssl.cnf exec "$root/usr/bin/openssl" "$@"
`;
    writeFileSync(join(folder, "bin", "openssl"), script, { mode: 0o755 });
  });
}

function debianKey(names: string[]): string {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return hash(JSON.stringify(names), release.match(/^VERSION_ID=.*$/m)?.[0] ?? "", arch());
}

const unsandboxed = ["-o", "APT::Sandbox::User=root"];

async function unpack(folder: string, names: string[], user: string): Promise<void> {
  if (!onPath("apt-get") || !onPath("dpkg-deb")) {
    throw new UserError(
      `apt-get and dpkg-deb are missing: ${user} takes ${names.slice(0, 3).join(", ")} from Debian. ` +
        "Use a Debian 12 machine; for the end-to-end suite a cluster of your own will do: set KUBECONFIG",
    );
  }
  const archives = join(folder, "archives");
  mkdirSync(archives);
  const download = () => output("apt-get", ["-q", ...unsandboxed, "download", ...names], { cwd: archives });
  // A container image comes without package lists, and old lists name packages that are gone: then they are fetched.
  await download().catch(async () => {
    await output("apt-get", ["-q", "update"]);
    await download();
  });
  for (const archive of readdirSync(archives)) {
    await output("dpkg-deb", ["-x", join(archives, archive), folder]);
  }
  rmSync(archives, { recursive: true });
}
