import { pluginVersion, pulumiVersion } from "./pulumi-versions.ts";

/** One Go module of tools/modules: what is built from it, and how. */
export interface GoTool {
  name: string;
  /** Packages to build, and the names of the binaries that come out. */
  packages: Record<string, string>;
  /** Whether nothing but the tests has a use for it. */
  testsOnly?: boolean;
  /** Variables that the linker sets. */
  variables?: Record<string, string>;
  /** Files of dependencies to copy into the module before it is built. */
  generated?: { module: string; files: Record<string, string> };
  /** Files of dependencies to put beside the binaries. */
  extras?: { module: string; files: Record<string, string> };
}

const kubernetes = "k8s.io/kubernetes/cmd";

/** In the order in which they are built: what the cluster needs to start comes first. */
export const goTools: GoTool[] = [
  { name: "cluster-pki", packages: { ".": "cluster-pki" } },
  { name: "pause", packages: { ".": "pause" } },
  {
    name: "etcd",
    packages: { "go.etcd.io/etcd/server/v3": "etcd", "go.etcd.io/etcd/etcdctl/v3": "etcdctl" },
  },
  {
    name: "kubernetes",
    packages: Object.fromEntries(
      ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"].map(
        (name) => [`${kubernetes}/${name}`, name],
      ),
    ),
    variables: {
      "k8s.io/component-base/version.gitVersion": "v1.37.2",
      "k8s.io/component-base/version.gitMajor": "1",
      "k8s.io/component-base/version.gitMinor": "37",
    },
  },
  { name: "local-volume-provisioner", packages: { ".": "local-volume-provisioner" } },
  {
    name: "cert-manager",
    packages: { ".": "cert-manager-controller" },
    extras: { module: "github.com/cert-manager/cert-manager", files: { "deploy/crds": "crds" } },
  },
  { name: "coredns", packages: { "github.com/coredns/coredns": "coredns" } },
  {
    name: "pulumi-language-nodejs",
    packages: { "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs": "pulumi-language-nodejs" },
  },
  {
    name: "pulumi",
    packages: { "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi": "pulumi" },
    // The Automation API refuses a CLI that doesn't know its version.
    variables: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": `v${pulumiVersion}` },
    // The script that starts dynamic providers.
    extras: {
      module: "github.com/pulumi/pulumi/sdk/v3",
      files: { "nodejs/dist/pulumi-resource-pulumi-nodejs": "bin/pulumi-resource-pulumi-nodejs" },
    },
  },
  {
    name: "pulumi-resource-kubernetes",
    packages: { ".": "pulumi-resource-kubernetes" },
    variables: { "main.version": pluginVersion("kubernetes") },
    generated: {
      module: "github.com/pulumi/pulumi-kubernetes/provider/v4",
      files: {
        "cmd/pulumi-resource-kubernetes/schema.json": "generated-schema.json",
        "cmd/pulumi-resource-kubernetes/terraform-mapping.json": "generated-terraform-mapping.json",
      },
    },
  },
  {
    name: "pulumi-resource-tls",
    packages: { ".": "pulumi-resource-tls" },
    variables: { "main.version": pluginVersion("tls") },
  },
  // The releases that upgrades begin with, and downgrades end with.
  { name: "etcd-3.6", packages: { "go.etcd.io/etcd/server/v3": "etcd-3.6" }, testsOnly: true },
  { name: "etcd-3.5", packages: { "go.etcd.io/etcd/server/v3": "etcd-3.5" }, testsOnly: true },
];
