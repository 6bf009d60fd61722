import { pluginVersion, pulumiVersion } from "./pulumi-versions.ts";

/** What is built from one Go module of tools/modules. */
export interface GoTool {
  name: string;
  /** Folder of the module below tools/modules. Default: the name. */
  module?: string;
  /** Packages to build, and the names of the binaries that come out. */
  packages: Record<string, string>;
  /** Names that a binary goes by besides its own, because it does what the name says that it is called by. */
  names?: Record<string, string[]>;
  /** Variables that the linker sets. */
  variables?: Record<string, string>;
  /** Files of dependencies: `source` for those that the build needs, `tool` for those that are kept beside the binaries. */
  copies?: { module: string; into: "source" | "tool"; files: Record<string, string> }[];
  /** Whether the packages below `stubs` in the module take the place of the dependencies' packages of the same path. */
  stubs?: boolean;
  /** Words of a dependency's file that are replaced. */
  edits?: { module: string; file: string; from: string; to: string }[];
  /** About how many seconds of one core the build takes on a machine that has nothing: tells how much is left. */
  seconds: number;
}

const kubernetesCommands = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-proxy",
  "kube-scheduler",
  "kubelet",
  "kubectl",
];

const kubernetesPlugin = "github.com/pulumi/pulumi-kubernetes/provider/v4";

/** In the order in which they are built: what the cluster needs to start comes first. */
export const goTools: GoTool[] = [
  {
    // One module and one build for all that agree on their dependencies: what they share is compiled once.
    name: "cluster",
    module: "programs",
    packages: Object.fromEntries(
      ["kubernetes", "cert-manager-controller", "coredns", "local-volume-provisioner", "cluster-pki", "pause"].map(
        (name) => [`./${name}`, name],
      ),
    ),
    names: { kubernetes: kubernetesCommands },
    variables: {
      "k8s.io/component-base/version.gitVersion": "v1.37.2",
      "k8s.io/component-base/version.gitMajor": "1",
      "k8s.io/component-base/version.gitMinor": "37",
    },
    copies: [{ module: "github.com/cert-manager/cert-manager", into: "tool", files: { "deploy/crds": "crds" } }],
    seconds: 600,
  },
  {
    name: "etcd",
    packages: { "go.etcd.io/etcd/server/v3": "etcd", "go.etcd.io/etcd/etcdctl/v3": "etcdctl" },
    seconds: 60,
  },
  {
    name: "pulumi-language-nodejs",
    packages: { "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs": "pulumi-language-nodejs" },
    seconds: 40,
  },
  {
    name: "pulumi",
    module: "programs",
    packages: {
      "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi": "pulumi",
      "./pulumi-resource-kubernetes": "pulumi-resource-kubernetes",
    },
    variables: {
      // The Automation API refuses a CLI that doesn't know its version.
      "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": `v${pulumiVersion}`,
      "main.pluginVersion": pluginVersion("kubernetes"),
    },
    copies: [
      {
        module: kubernetesPlugin,
        into: "source",
        files: {
          "cmd/pulumi-resource-kubernetes/schema.json": "pulumi-resource-kubernetes/generated-schema.json",
          "cmd/pulumi-resource-kubernetes/terraform-mapping.json":
            "pulumi-resource-kubernetes/generated-terraform-mapping.json",
        },
      },
      // The script that starts dynamic providers.
      {
        module: "github.com/pulumi/pulumi/sdk/v3",
        into: "tool",
        files: { "nodejs/dist/pulumi-resource-pulumi-nodejs": "bin/pulumi-resource-pulumi-nodejs" },
      },
    ],
    stubs: true,
    // What the plugin's own go.mod asks for is older than what the rest of the module has.
    edits: [
      {
        module: kubernetesPlugin,
        file: "pkg/await/await.go",
        from: "sigs.k8s.io/structured-merge-diff/v4/",
        to: "sigs.k8s.io/structured-merge-diff/v6/",
      },
      {
        module: kubernetesPlugin,
        file: "pkg/gen/schema.go",
        from: "Provider: pschema.ResourceSpec{",
        to: "Provider: &pschema.ResourceSpec{",
      },
    ],
    seconds: 330,
  },
  {
    name: "pulumi-resource-tls",
    packages: { ".": "pulumi-resource-tls" },
    variables: { "main.version": pluginVersion("tls") },
    stubs: true,
    seconds: 150,
  },
  { name: "etcd-writer", packages: { ".": "etcd-writer" }, seconds: 20 },
  // The releases that upgrades begin with, and downgrades end with: nothing but the tests has a use for them.
  { name: "etcd-3.6", packages: { "go.etcd.io/etcd/server/v3": "etcd-3.6" }, seconds: 50 },
  { name: "etcd-3.5", packages: { "go.etcd.io/etcd/server/v3": "etcd-3.5" }, seconds: 50 },
];
