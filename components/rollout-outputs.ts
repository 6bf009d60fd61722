import * as pulumi from "@pulumi/pulumi";

/** The last TLS or template change, as it was carried out. */
export interface LastOperation {
  operation: string;
  steps: string[];
  durationMs: number;
  completedAt: string;
  restarts: unknown[];
}

type RolloutOutputs = { [Field in keyof LastOperation]: pulumi.Output<LastOperation[Field]> };

/** The stack, as written on the workload, so that another program does not walk this cluster. */
export function owner(): string {
  return `${pulumi.getOrganization()}/${pulumi.getProject()}/${pulumi.getStack()}`;
}

/** As a rollout's outputs have it. */
export function lastOperation(rollout: RolloutOutputs): pulumi.Output<LastOperation> {
  return pulumi.output({
    operation: rollout.operation,
    steps: rollout.steps,
    durationMs: rollout.durationMs,
    completedAt: rollout.completedAt,
    restarts: rollout.restarts,
  });
}
