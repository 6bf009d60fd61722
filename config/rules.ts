import { quantityValue } from "./formats";
import { memberHost } from "./names";
import { configPath } from "./problems";
import { flagProblems } from "./rules-flags";
import { imageProblems, patchInTag } from "./rules-image";
import { tlsProblems, tlsWarnings } from "./rules-tls";
import type { Input } from "./schema";
import type { ConfigProblem, EtcdSpec } from "./types";

/** Namespaces that every Kubernetes cluster has: nobody may make or delete them. */
export function isStandingNamespace(namespace: string): boolean {
  return namespace === "default" || namespace.startsWith("kube-");
}

/** The rules that take more than one key to judge. `spec` has the defaults filled in, apart from `tls`. */
export function crossProblems(input: Input, spec: EtcdSpec): ConfigProblem[] {
  return [
    ...namespaceProblems(input, spec),
    ...hostProblems(spec),
    ...workloadProblems(input),
    ...resourceProblems(spec),
    ...repeatedVariables(spec),
    ...(input.tls ? tlsProblems(input.tls, spec.name) : []),
    ...flagProblems(spec),
    ...imageProblems(input, spec),
    ...tlsVersionProblems(input),
  ];
}

function namespaceProblems(input: Input, spec: EtcdSpec): ConfigProblem[] {
  if (!input.createNamespace || !isStandingNamespace(spec.namespace)) return [];
  return [
    {
      path: configPath(["createNamespace"]),
      value: true,
      rule: `must be false for the namespace ${spec.namespace}, which is there already and must stay`,
      mend: "Leave it out, or choose a namespace of the cluster's own",
    },
  ];
}

function hostProblems(spec: EtcdSpec): ConfigProblem[] {
  const host = memberHost(spec, spec.replicas - 1);
  if (host.length <= 253) return [];
  return [
    {
      path: configPath(["clusterDomain"]),
      value: spec.clusterDomain,
      rule: `makes a member's DNS name ${host.length} characters long; 253 are allowed`,
      mend: "Shorten etcd:name or etcd:namespace",
    },
  ];
}

function workloadProblems(input: Input): ConfigProblem[] {
  const { kind = "StatefulSet", podPlacementPolicy } = input.workload ?? {};
  if (kind === "PetSet" || podPlacementPolicy === undefined) return [];
  return [
    {
      path: configPath(["workload", "podPlacementPolicy"]),
      value: podPlacementPolicy,
      rule: "has no meaning with a StatefulSet",
      mend: "Leave it out, or choose the kind PetSet",
    },
  ];
}

/** The API server refuses such a pod; better here than half-way. */
function resourceProblems(spec: EtcdSpec): ConfigProblem[] {
  const { requests, limits } = spec.resources;
  return Object.keys(limits)
    .filter((name) => requests[name] !== undefined)
    .filter((name) => quantityValue(requests[name]!)! > quantityValue(limits[name]!)!)
    .map((name) => ({
      path: configPath(["resources", "limits", name]),
      value: limits[name],
      rule: `must not be less than the request, which is ${requests[name]}`,
      mend: "Raise the limit or lower etcd:resources.requests",
    }));
}

function repeatedVariables(spec: EtcdSpec): ConfigProblem[] {
  const names = spec.extraEnv.map((variable) => variable.name);
  return names.flatMap((value, index) =>
    names.indexOf(value) === index
      ? []
      : [
          {
            path: configPath(["extraEnv", index, "name"]),
            value,
            rule: "must be listed once",
            mend: `Keep one of it and extraEnv[${names.indexOf(value)}]`,
          },
        ],
  );
}

/** etcd does not start where the newest version it may speak is older than the oldest. */
function tlsVersionProblems({ extraArgs = {}, tls }: Input): ConfigProblem[] {
  if (tls?.minVersion !== "TLS1.3" || extraArgs["tls-max-version"] !== "TLS1.2") return [];
  return [
    {
      path: configPath(["extraArgs", "tls-max-version"]),
      value: "TLS1.2",
      rule: "must not be older than etcd:tls.minVersion, which is TLS1.3",
      mend: "Leave one of the two out",
    },
  ];
}

/** What is accepted, but deserves a second thought. Expects the whole spec, with `tls`. */
export function warnings(spec: EtcdSpec): ConfigProblem[] {
  const ofTls = spec.tls ? tlsWarnings(spec.tls) : [];
  return [...evenReplicas(spec), ...patchInTag(spec), ...lostWrites(spec), ...ofTls];
}

function evenReplicas({ replicas }: EtcdSpec): ConfigProblem[] {
  if (replicas % 2 === 1) return [];
  return [
    {
      path: configPath(["replicas"]),
      value: replicas,
      rule: `an even number survives no more failures than ${replicas - 1}, and has one member more that can fail`,
      mend: `Choose ${replicas - 1} or ${replicas + 1}`,
    },
  ];
}

function lostWrites({ extraArgs }: EtcdSpec): ConfigProblem[] {
  const value = extraArgs["unsafe-no-fsync"];
  if (value === undefined || value === "false") return [];
  return [
    {
      path: configPath(["extraArgs", "unsafe-no-fsync"]),
      value,
      rule: "acknowledged writes are lost when a node loses power",
      mend: "Leave it out wherever the data matters",
    },
  ];
}
