import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { onPath } from "../command.ts";
import { stateRoot } from "./clone.ts";

/** Something that containers need from the machine and that this one doesn't give. */
export interface Lack {
  ability: string;
  remedy: string;
}

/** What the machine lacks for a local cluster; empty if it can run one. */
export function missingAbilities(): Lack[] {
  if (process.platform !== "linux" || !["x64", "arm64"].includes(arch())) {
    return [
      { ability: `Linux on x86-64 or arm64 (this is ${process.platform} on ${arch()})`, remedy: "use such a machine" },
    ];
  }
  if (process.getuid?.() !== 0) {
    return [{ ability: "root", remedy: "run the command as root (for instance with sudo)" }];
  }
  const tools = ["unshare", "nsenter", "mount"].filter((name) => !onPath(name));
  if (tools.length) {
    return [{ ability: `the commands ${tools.join(", ")}`, remedy: "install the packages util-linux and mount" }];
  }
  return checks.filter((check) => !check.works()).map(({ ability, remedy }) => ({ ability, remedy }));
}

const privileged = "in a container, give it more rights (for instance docker run --privileged)";

const checks: (Lack & { works: () => boolean })[] = [
  {
    ability: "namespaces (pid, mount, network)",
    remedy: privileged,
    works: () => inNamespaces("true"),
  },
  {
    ability: "mounting file systems",
    remedy: privileged,
    works: () => inNamespaces("mount -t tmpfs tmpfs /mnt"),
  },
  {
    ability: "overlayfs below the state folder",
    remedy: `load the kernel module "overlay", or set XDG_STATE_HOME to a folder that is not on an overlay itself (now ${stateRoot})`,
    works: overlayWorks,
  },
  {
    ability: "veth network interfaces",
    remedy: `load the kernel module "veth"; ${privileged}`,
    // The kernel names the interface types it knows only when asked to make one.
    works: () => !onPath("ip") || inNamespaces("ip link add name check0 type veth peer name check1"),
  },
  {
    ability: "nftables in the kernel",
    remedy: 'load the kernel module "nf_tables"',
    works: () => existsSync("/proc/net/netfilter") || inNamespaces("modprobe nf_tables"),
  },
  {
    ability: "writable cgroups with the controllers cpu, memory and pids",
    remedy: `mount them at /sys/fs/cgroup; ${privileged}`,
    works: cgroupsWork,
  },
];

function inNamespaces(script: string, env = process.env): boolean {
  const args = ["--pid", "--fork", "--mount", "--net", "--propagation", "private", "sh", "-euc", script];
  return spawnSync("unshare", args, { stdio: "ignore", env }).status === 0;
}

function overlayWorks(): boolean {
  mkdirSync(stateRoot, { recursive: true });
  const folder = mkdtempSync(join(stateRoot, "overlay-"));
  for (const name of ["lower", "upper", "work", "merged"]) mkdirSync(join(folder, name));
  const script = 'cd "$FOLDER" && mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged';
  const works = inNamespaces(script, { ...process.env, FOLDER: folder });
  rmSync(folder, { recursive: true });
  return works;
}

function cgroupsWork(): boolean {
  const version2 = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const known = version2
    ? readFileSync("/sys/fs/cgroup/cgroup.controllers", "utf8").split(/\s+/)
    : ["cpu", "memory", "pids"].filter((name) => existsSync(`/sys/fs/cgroup/${name}/cgroup.procs`));
  if (!["cpu", "memory", "pids"].every((name) => known.includes(name))) return false;
  const trial = join("/sys/fs/cgroup", version2 ? "" : "pids", `pulumi-etcd-check-${process.pid}`);
  try {
    mkdirSync(trial);
    spawnSync("rmdir", [trial]);
    return true;
  } catch {
    return false;
  }
}
