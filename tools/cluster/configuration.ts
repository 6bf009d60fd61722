import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { debianFolder } from "../debian.ts";
import { paths } from "./clone.ts";
import { asSeenInside, inside } from "./inside.ts";
import { fixed, type Settings } from "./settings.ts";

/** Writes the components' configuration files. JSON is YAML, where Kubernetes asks for YAML. */
export function writeConfiguration(settings: Settings): void {
  const folder = join(paths.cluster, "config");
  mkdirSync(join(folder, "cni"), { recursive: true });
  const write = (name: string, content: string | object) => {
    const text = typeof content === "string" ? content : `${JSON.stringify(content, undefined, 2)}\n`;
    writeFileSync(join(folder, name), text);
  };
  write("containerd.toml", containerd());
  write("cni/10-pods.conflist", cni());
  write("kubelet.json", kubelet(settings));
  write("kube-proxy.json", kubeProxy());
  write("Corefile", corefile(settings));
  write("resolv.conf", resolvConf(settings));
  // The kubelet puts the nameservers it finds here into pods with dnsPolicy Default.
  write("kubelet-resolv.conf", `nameserver ${settings.nodeAddress}\n`);
}

/** The resolver settings of a program that runs in the cluster's network. */
function resolvConf(settings: Settings): string {
  const domain = fixed.clusterDomain;
  return `nameserver ${settings.nodeAddress}\nsearch svc.${domain} ${domain}\noptions ndots:5\n`;
}

function containerd(): string {
  const binaries = asSeenInside(join(debianFolder(), "usr"));
  return `version = 2
root = "${inside.data("containerd")}"
state = "/run/containerd/state"

[grpc]
  address = "${inside.containerdSocket}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  netns_mounts_under_state_dir = true
  # A machine that is itself a container may not lower a process's OOM score.
  restrict_oom_score_adj = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${binaries}/lib/cni"
    conf_dir = "${inside.config("cni")}"

  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "${binaries}/sbin/runc"
      SystemdCgroup = false
`;
}

/**
 * Pods are connected point to point and not by a bridge: then all their traffic
 * is routed, and Services work without the br_netfilter kernel module.
 */
function cni(): object {
  const ipam = {
    type: "host-local",
    subnet: fixed.podSubnet,
    dataDir: inside.data("cni"),
    routes: [{ dst: "0.0.0.0/0" }],
  };
  return { cniVersion: "0.4.0", name: "pods", plugins: [{ type: "ptp", ipMasq: false, ipam }] };
}

function kubelet(settings: Settings): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: inside.pki("ca.crt") },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: inside.pki("kubelet-server.crt"),
    tlsPrivateKeyFile: inside.pki("kubelet-server.key"),
    clusterDNS: [settings.nodeAddress],
    clusterDomain: fixed.clusterDomain,
    resolvConf: inside.config("kubelet-resolv.conf"),
    containerRuntimeEndpoint: `unix://${inside.containerdSocket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${fixed.cgroup}`,
    // The machine's cgroups are not the cluster's to arrange.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    // Images can't be pulled again, and a full disk is the machine's own affair.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      "memory.available": "0%",
      "nodefs.available": "0%",
      "nodefs.inodesFree": "0%",
      "imagefs.available": "0%",
    },
  };
}

function kubeProxy(): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clusterCIDR: fixed.podSubnet,
    clientConnection: { kubeconfig: inside.pki("kube-proxy.kubeconfig") },
    hostnameOverride: fixed.nodeName,
    // These limits belong to the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}

/** What kubeadm installs, except that names outside of the cluster don't exist instead of being asked for elsewhere. */
function corefile(settings: Settings): string {
  return `${fixed.clusterDomain}:53 in-addr.arpa:53 ip6.arpa:53 {
    bind ${settings.nodeAddress}
    errors
    kubernetes ${fixed.clusterDomain} in-addr.arpa ip6.arpa {
        kubeconfig ${inside.pki("coredns.kubeconfig")}
        pods insecure
        ttl 30
    }
    cache 30 {
        disable success ${fixed.clusterDomain}
        disable denial ${fixed.clusterDomain}
    }
    loadbalance
}

.:53 {
    bind ${settings.nodeAddress}
    template ANY ANY . {
        rcode NXDOMAIN
    }
}
`;
}
