export * from "./names";
export { ConfigError, configPath, describeProblem } from "./problems";
export * from "./types";
import type { ConfigProblem, EtcdSpec, FieldChange, Operation } from "./types";
export declare function parseSpec(raw: Record<string, unknown>): { spec: EtcdSpec; warnings: ConfigProblem[] };
export declare function diffSpecs(old: EtcdSpec, next: EtcdSpec): FieldChange[];
export declare function classify(old: EtcdSpec | undefined, next: EtcdSpec): Operation;
export declare function jsonSchema(): Record<string, unknown>;
