import type * as z from "zod";
import { tlsSpec } from "./certificates";
import { fromJson } from "./fields";
import { durationSeconds } from "./formats";
import { inputSchema, type SchemaNode } from "./json-schema";
import { holdsPrivateKey } from "./pem";
import { ConfigError, configPath } from "./problems";
import { restartToken } from "./restart-token";
import { crossProblems, isStandingNamespace, warnings } from "./rules";
import { versionInTag } from "./rules-image";
import { DEFAULT_VERSION, type Input, input } from "./schema";
import { suiteKeyProblems } from "./suite-keys";
import type { ConfigProblem, EtcdSpec, ResourcesSpec, RolloutSpec, WorkloadSpec } from "./types";
import { suggestion, unknownKeys } from "./unknown-keys";

export interface ParsedConfig {
  spec: EtcdSpec;
  /** Whether Pulumi is to refuse to delete the workload. No part of the spec: nothing in the cluster follows from it. */
  protect: boolean;
  warnings: ConfigProblem[];
}

/**
 * Stack config of the namespace `etcd` -> spec, with every default filled in.
 *
 * Throws `ConfigError` with all the problems that can be judged together: first those of single keys, and once
 * these are in order those between keys. A key that is null counts as absent.
 */
export function parseSpec(raw: Record<string, unknown>): ParsedConfig {
  const wish = readInput(input, inputSchema(), raw);
  const spec = plainSpec(wish);
  const further = crossProblems(wish, spec);
  if (further.length > 0) throw new ConfigError(further);
  if (wish.tls) spec.tls = tlsSpec(wish.tls, spec, spec.replicas);
  const unservable = suiteKeyProblems(spec);
  if (unservable.length > 0) throw new ConfigError(unservable);
  const token = restartToken(spec);
  if (token !== undefined) spec.restartToken = token;
  return { spec, protect: wish.protect ?? true, warnings: warnings(spec) };
}

/** What was written, if every single key of it is in order. Throws `ConfigError` with the problems of all that are not. */
export function readInput<T extends z.ZodType>(schema: T, node: SchemaNode, raw: Record<string, unknown>): z.output<T> {
  const present = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null && value !== undefined));
  const parsed = schema.safeParse(present);
  const problems = [
    ...unknownKeys(present, node),
    ...(parsed.error?.issues ?? []).flatMap((issue) => problemsOf(issue, present)),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.map(withoutKeys));
  return parsed.data;
}

/** The spec without its section `tls`. */
function plainSpec(wish: Input): EtcdSpec {
  const namespace = wish.namespace ?? "etcd";
  const version = wish.version ?? versionInTag(wish.image) ?? DEFAULT_VERSION;
  return {
    name: wish.name ?? "etcd",
    namespace,
    createNamespace: wish.createNamespace ?? !isStandingNamespace(namespace),
    replicas: wish.replicas ?? 3,
    version,
    image: wish.image ?? `quay.io/coreos/etcd:v${version}`,
    imagePullPolicy: wish.imagePullPolicy ?? "IfNotPresent",
    workload: workloadSpec(wish.workload ?? {}),
    storage: {
      size: wish.storage?.size ?? "8Gi",
      ...(wish.storage?.class !== undefined && { className: wish.storage.class }),
    },
    resources: resourcesSpec(wish.resources ?? {}),
    clusterDomain: wish.clusterDomain ?? "cluster.local",
    extraArgs: wish.extraArgs ?? {},
    extraEnv: wish.extraEnv ?? [],
    ...(wish.auth && { auth: wish.auth }),
    rollout: rolloutSpec(wish.rollout ?? {}),
  };
}

/** What is not set stays absent: a release that knows another deadline is then no difference to those before it. */
export function rolloutSpec({
  stepTimeout,
  issueTimeout,
  lockTimeout,
  restart,
}: NonNullable<Input["rollout"]>): RolloutSpec {
  return {
    stepTimeoutSeconds: durationSeconds(stepTimeout ?? "5m")!,
    ...(issueTimeout !== undefined && { issueTimeoutSeconds: durationSeconds(issueTimeout)! }),
    ...(lockTimeout !== undefined && { lockTimeoutSeconds: durationSeconds(lockTimeout)! }),
    ...(restart !== undefined && { restart }),
  };
}

function workloadSpec(wish: NonNullable<Input["workload"]>): WorkloadSpec {
  if (wish.kind !== "PetSet") return { kind: "StatefulSet" };
  return { kind: "PetSet", podPlacementPolicy: wish.podPlacementPolicy ?? "default" };
}

/** Without any request the kernel would kill a member first when its node runs short. */
function resourcesSpec(wish: NonNullable<Input["resources"]>): ResourcesSpec {
  const requests: Record<string, string> = wish.requests ?? (wish.limits ? {} : { cpu: "100m", memory: "256Mi" });
  return { requests, limits: wish.limits ?? {} };
}

type Issue = z.core.$ZodIssue;

/** An issue of the schema in our words. Unknown keys are left out: `unknownKeys` reports them with a suggestion. */
function problemsOf(issue: Issue, raw: unknown, parent: PropertyKey[] = []): ConfigProblem[] {
  const path = [...parent, ...issue.path];
  if (issue.code === "unrecognized_keys") return [];
  if (issue.code === "invalid_key") return issue.issues.flatMap((each) => problemsOf(each, raw, path));
  const value = valueAt(raw, path);
  return [{ path: configPath(path), ...(value !== undefined && { value }), ...ruleOf(issue, value) }];
}

/** A private key or password that somebody put somewhere is not to be shown in a log as well. */
function withoutKeys(problem: ConfigProblem): ConfigProblem {
  const { value, ...rest } = problem;
  return holdsPrivateKey(value) || /pass(word|wd)?\b/i.test(rest.path) ? rest : problem;
}

function ruleOf(issue: Issue, value: unknown): Pick<ConfigProblem, "rule" | "mend"> {
  if (issue.code === "custom") return { rule: issue.message, mend: String(issue.params?.mend ?? "") };
  if (issue.code === "invalid_value") {
    const choices = issue.values.map(String);
    return { rule: `must be one of ${choices.join(", ")}`, mend: suggestion(String(value ?? ""), choices) };
  }
  const expected = issue.code === "invalid_type" ? issue.expected : "another value";
  const wanted = WORDS[expected] ?? expected;
  if (value === undefined) return { rule: "is required", mend: `Write ${wanted}` };
  return { rule: `must be ${wanted}`, mend: `Write ${wanted}, or leave the key out for its default` };
}

const WORDS: Record<string, string> = {
  string: "text",
  number: "a whole number",
  int: "a whole number",
  boolean: "true or false",
  object: "a map of keys and values",
  record: "a map of keys and values",
  array: "a list",
};

/** What the user wrote at a path. A shorthand such as `workload: PetSet` stands for everything below it. */
function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  const found = fromJson(raw);
  const [key, ...rest] = path;
  if (key === undefined || typeof found === "string") return found;
  if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
  return valueAt((found as Record<PropertyKey, unknown>)[key], rest);
}
