import * as z from "zod";
import { type Check, check, flag, list, mapOf, section, TEXT_OR_NUMBER, text, wholeNumber } from "./fields";
import {
  compareVersions,
  durationSeconds,
  isDnsLabel,
  isDnsSubdomain,
  isServiceName,
  quantityValue,
  semver,
} from "./formats";
import { mendForOwnFlag } from "./own-flags";
import { GO_DURATION, NOT_EMPTY, OBJECT_NAME, tls } from "./schema-tls";

export const DEFAULT_VERSION = "3.7.3";
/** The first release with /readyz and /livez, which the members' probes ask. */
const OLDEST_VERSION: [number, number, number] = [3, 5, 11];

const CLUSTER_NAME: Check<string>[] = [
  {
    test: isServiceName,
    rule: "must be a DNS label: lower-case letters, digits and `-`, a letter first, no `-` at its end",
    mend: "Choose a name such as `etcd` or `orders-etcd`",
  },
  {
    test: (v) => v.length <= 52,
    rule: "must have 52 characters at most, because a StatefulSet of a longer name creates no pods",
    mend: "Choose a shorter name",
  },
];

const VERSION: Check<string>[] = [
  {
    test: (v) => semver(v) !== undefined,
    rule: "must be a version of etcd, without a leading v",
    mend: `Write major.minor.patch, such as \`${DEFAULT_VERSION}\``,
  },
  {
    test: (v) => compareVersions(semver(v) ?? OLDEST_VERSION, OLDEST_VERSION) >= 0,
    rule: `must be ${OLDEST_VERSION.join(".")} or later, because older releases have no /readyz to probe`,
    mend: `Choose \`${DEFAULT_VERSION}\``,
  },
];

const QUANTITY: Check<string> = {
  test: (v) => quantityValue(v) !== undefined,
  rule: "must be a Kubernetes quantity",
  mend: "Write a number with a unit, such as `500m`, `2` or `8Gi`",
};

const SOME: Check<string> = {
  test: (v) => (quantityValue(v) ?? 1) > 0,
  rule: "must be more than nothing",
  mend: "Write a size such as `8Gi`",
};

const REPLICAS: Check<number>[] = [
  { test: (v) => v >= 1, rule: "must be 1 or more", mend: "Choose 1, 3, 5 or 7" },
  {
    test: (v) => v <= 7,
    rule: "must be 7 at most, because every write waits for more than half of the members",
    mend: "Choose 3, 5 or 7",
  },
];

const FLAG_NAME: Check<string>[] = [
  { test: (v) => !v.startsWith("-"), rule: "must come without leading dashes", mend: "Leave the dashes out" },
  {
    test: (v) => v.startsWith("-") || /^[a-z0-9]+(-[a-z0-9]+)*$/.test(v),
    rule: "must be the name of an etcd flag",
    mend: "Write it as `etcd --help` prints it, such as `quota-backend-bytes`",
  },
];

const TIMEOUT: Check<string>[] = [
  GO_DURATION,
  {
    test: (v) => (durationSeconds(v) ?? 1) >= 1,
    rule: "must be 1s or more",
    mend: "Write a duration such as `5m`",
  },
];

const ENV_NAME: Check<string>[] = [
  {
    test: (v) => /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(v),
    rule: "must be the name of an environment variable",
    mend: "Use letters, digits and `_`, no digit first",
  },
  {
    test: (v) => !v.startsWith("ETCD_"),
    rule: "must not begin with ETCD_, because etcd exits where a flag and its variable are both set",
    mend: "Set the flag in etcd:extraArgs instead",
  },
  { test: (v) => v !== "POD_NAME", rule: "is set by the product itself", mend: "Choose another name" },
];

/** A map of quantities by resource, such as `{ cpu: "1" }`. */
const amounts = () => mapOf(check(z.string(), RESOURCE), text(QUANTITY).meta(TEXT_OR_NUMBER)).optional();

const RESOURCE: Check<string> = {
  test: (v) => /^([a-z0-9.-]+\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(v),
  rule: "must be the name of a resource",
  mend: "Write `cpu`, `memory` or `ephemeral-storage`",
};

const workload = z.preprocess(
  (value) => (typeof value === "string" && !value.trim().startsWith("{") ? { kind: value } : value),
  section({
    kind: z.enum(["StatefulSet", "PetSet"]).optional().meta({
      description:
        "`StatefulSet` (any cluster), or `PetSet` of apps.k8s.appscode.com/v1, whose controller must be there.",
      default: "StatefulSet",
    }),
    podPlacementPolicy: text(OBJECT_NAME).optional().meta({
      description: "PetSet only: name of the PlacementPolicy. Default `default`.",
    }),
  }),
);

/** The name of a flag; one of the product's own is refused with what to set instead. */
const flagName = check(z.string(), ...FLAG_NAME).superRefine((name, context) => {
  const mend = mendForOwnFlag(name);
  if (mend) context.addIssue({ code: "custom", message: "is set by the product itself", params: { mend } });
});

/** The stack config as people write it: what may be left out is optional, nothing is filled in yet. */
export const input = z.strictObject({
  name: text(...CLUSTER_NAME)
    .optional()
    .meta({
      description:
        "Name of the cluster: of its workload and its client Service. DNS label, 52 characters at most. Fixed once the cluster runs.",
      default: "etcd",
    }),
  namespace: text({
    test: isDnsLabel,
    rule: "must be a DNS label: lower-case letters, digits and `-`, 63 characters at most",
    mend: "Choose a namespace such as `etcd`",
  })
    .optional()
    .meta({ description: "Namespace of the cluster. Fixed once the cluster runs.", default: "etcd" }),
  createNamespace: flag().optional().meta({
    description:
      "Whether the namespace is made, and deleted with the stack. Default true; false for `default` and `kube-*`, which are always there.",
  }),
  replicas: wholeNumber(...REPLICAS)
    .optional()
    .meta({
      description:
        "Number of members: 1, 3, 5 or 7. Even numbers are accepted with a warning: they survive no more failures than one member fewer. Fixed once the cluster runs.",
      type: ["integer", "string"],
      minimum: 1,
      maximum: 7,
      default: 3,
    }),
  version: text(...VERSION)
    .optional()
    .meta({
      description: `Version of etcd, 3.5.11 or later. Default: the version in the image's tag, or ${DEFAULT_VERSION} without an image. Another one restarts the members in order; one minor release at a time.`,
    }),
  image: text({
    test: (v) => /^[^\s@:]+(:\d+\/[^\s@:]+)?(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/.test(v),
    rule: "must be an image reference",
    mend: `Write repository:tag, such as \`quay.io/coreos/etcd:v${DEFAULT_VERSION}\``,
  })
    .optional()
    .meta({ description: "Image with /usr/local/bin/etcd in it. Default `quay.io/coreos/etcd:v<version>`." }),
  imagePullPolicy: z.enum(["IfNotPresent", "Always", "Never"]).optional().meta({
    description: "When the kubelet pulls the image.",
    default: "IfNotPresent",
  }),
  workload: workload.optional().meta({
    description: "What runs the members. Fixed once the cluster runs. `PetSet` is short for `{ kind: PetSet }`.",
    type: ["object", "string"],
  }),
  storage: section({
    size: text(QUANTITY, SOME).optional().meta({
      description: "Size of each member's volume, a Kubernetes quantity. Fixed once the cluster runs.",
      default: "8Gi",
    }),
    class: text({ ...OBJECT_NAME, test: (v) => v === "" || isDnsSubdomain(v) })
      .optional()
      .meta({
        description:
          "StorageClass of the members' volumes. Absent: the Kubernetes cluster's default class. `\"\"`: literally no class. Fixed once the cluster runs.",
      }),
  })
    .optional()
    .meta({ description: "The members' volumes. They stay when the stack is destroyed." }),
  resources: section({
    requests: amounts().meta({ description: "What each member is guaranteed. Default cpu 100m, memory 256Mi." }),
    limits: amounts().meta({ description: "What each member may use at most. Default: no limit." }),
  })
    .optional()
    .meta({ description: "CPU and memory of each member, as in a container's `resources`." }),
  clusterDomain: text({
    test: (v) => isDnsSubdomain(v),
    rule: "must be a DNS name without a dot at its end",
    mend: "Write the DNS domain of the Kubernetes cluster, such as `cluster.local`",
  })
    .optional()
    .meta({
      description:
        "DNS domain of the Kubernetes cluster. Fixed once the cluster runs: the members know each other by it.",
      default: "cluster.local",
    }),
  extraArgs: mapOf(flagName, text().meta(TEXT_OR_NUMBER)).optional().meta({
    description:
      "Further etcd flags without their leading dashes, such as `quota-backend-bytes`. Changing one restarts the members in order.",
  }),
  extraEnv: list(
    section({
      name: text(...ENV_NAME).meta({ description: "Name of the variable; not one of etcd's own (ETCD_*)." }),
      value: text().meta({ description: "Its value, in the open: no secrets here.", ...TEXT_OR_NUMBER }),
    }),
  )
    .optional()
    .meta({ description: "Further environment variables of the members, such as GOGC or GOMEMLIMIT." }),
  tls: tls.optional().meta({
    description:
      "TLS of both planes. Absent: plaintext. Adding, changing or taking it away is done on the running cluster.",
    type: ["object", "null"],
  }),
  auth: section({
    secretName: text(OBJECT_NAME).meta({
      description:
        "Name of a Secret of type kubernetes.io/basic-auth in the cluster's namespace, with `username` and `password` of a user of the role root. Needed once authentication is switched on in etcd: without it the members tell nobody how they are, and a walk is refused. Read when it is needed, never kept.",
    }),
  })
    .optional()
    .meta({
      description:
        "As whom the members are asked where etcd's own authentication is on. Absent: as nobody, or with TLS as the user that the client certificate names (root). Changing it restarts nothing.",
    }),
  protect: flag().optional().meta({
    description:
      "Whether Pulumi refuses to delete or replace the workload, and the namespace that it made: `pulumi destroy` fails until this is false and `pulumi up` has taken note of it. Changing it restarts nothing.",
    default: true,
  }),
  rollout: section({
    stepTimeout: text(...TIMEOUT)
      .optional()
      .meta({
        description:
          "Longest wait of one step (a member's restart, the gate before it), as a Go duration. Then the update fails with what stood in the way; the next one goes on from there.",
        default: "5m",
      }),
    issueTimeout: text(...TIMEOUT)
      .optional()
      .meta({
        description:
          "Longest wait for the issue of a certificate, as a Go duration: raise it where somebody approves requests by hand. Default: as `stepTimeout`.",
      }),
    lockTimeout: text(...TIMEOUT)
      .optional()
      .meta({
        description:
          "Longest wait for another update of the same cluster to end, as a Go duration; 30s at least. Default: as `stepTimeout`.",
      }),
    restart: text(NOT_EMPTY)
      .optional()
      .meta({
        description:
          "A token of your choice, such as a date. Each new value restarts the members in order, with nothing else changed; so does taking it away.",
        ...TEXT_OR_NUMBER,
      }),
  })
    .optional()
    .meta({ description: "How changes are carried out." }),
});

export type Input = z.output<typeof input>;
