import { binary } from "../go-tools.ts";
import { asSeenInside, inside } from "./inside.ts";
import { fixed, type Settings } from "./settings.ts";

/** A process of the cluster. */
export interface Component {
  name: string;
  command: string;
  args: string[];
}

export function etcd(): Component {
  const urls = { client: "http://127.0.0.1:2379", peer: "http://127.0.0.1:2380" };
  return go("etcd", {
    "data-dir": inside.data("etcd"),
    "listen-client-urls": urls.client,
    "advertise-client-urls": urls.client,
    "listen-peer-urls": urls.peer,
    "initial-advertise-peer-urls": urls.peer,
    "initial-cluster": `default=${urls.peer}`,
    // Nothing in here outlives the machine, and a slow disk would slow everything down.
    "unsafe-no-fsync": "true",
  });
}

export function kubeApiserver(settings: Settings): Component {
  return go("kube-apiserver", {
    "advertise-address": settings.nodeAddress,
    "secure-port": "6443",
    "etcd-servers": "http://127.0.0.1:2379",
    "service-cluster-ip-range": fixed.serviceSubnet,
    "authorization-mode": "Node,RBAC",
    "enable-admission-plugins": "NodeRestriction",
    "client-ca-file": inside.pki("ca.crt"),
    "tls-cert-file": inside.pki("apiserver.crt"),
    "tls-private-key-file": inside.pki("apiserver.key"),
    "kubelet-certificate-authority": inside.pki("ca.crt"),
    "kubelet-client-certificate": inside.pki("kubelet-client.crt"),
    "kubelet-client-key": inside.pki("kubelet-client.key"),
    "kubelet-preferred-address-types": "InternalIP",
    "service-account-issuer": `https://kubernetes.default.svc.${fixed.clusterDomain}`,
    "service-account-key-file": inside.pki("service-accounts.pub"),
    "service-account-signing-key-file": inside.pki("service-accounts.key"),
    "allow-privileged": "true",
  });
}

export function controlPlane(): Component[] {
  return [
    go("kube-controller-manager", {
      kubeconfig: inside.pki("kube-controller-manager.kubeconfig"),
      "root-ca-file": inside.pki("ca.crt"),
      "service-account-private-key-file": inside.pki("service-accounts.key"),
      "use-service-account-credentials": "true",
      "leader-elect": "false",
    }),
    go("kube-scheduler", { kubeconfig: inside.pki("kube-scheduler.kubeconfig"), "leader-elect": "false" }),
  ];
}

export function containerd(debian: string): Component {
  return {
    name: "containerd",
    command: `${asSeenInside(debian)}/usr/bin/containerd`,
    args: ["--config", inside.config("containerd.toml")],
  };
}

export function node(settings: Settings): Component[] {
  return [
    go("kubelet", {
      config: inside.config("kubelet.json"),
      kubeconfig: inside.pki("kubelet.kubeconfig"),
      "hostname-override": fixed.nodeName,
      "node-ip": settings.nodeAddress,
      "root-dir": inside.data("kubelet"),
      "cert-dir": inside.data("kubelet-certificates"),
    }),
    go("kube-proxy", { config: inside.config("kube-proxy.json") }),
    go("coredns", { conf: inside.config("Corefile") }),
  ];
}

/** What a cluster offers beyond Kubernetes itself: storage and certificates. */
export function services(): Component[] {
  return [
    go("local-volume-provisioner", {
      kubeconfig: inside.pki("local-volume-provisioner.kubeconfig"),
      root: inside.data("volumes"),
    }),
    go("cert-manager-controller", { kubeconfig: inside.pki("cert-manager.kubeconfig") }),
  ];
}

function go(name: string, flags: Record<string, string>): Component {
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  return { name, command: asSeenInside(binary(name)), args };
}
