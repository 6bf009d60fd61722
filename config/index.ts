export { classify } from "./classify";
export { diffSpecs } from "./diff";
export { hostSans, hostsSchema, type ParsedHosts, parseHosts } from "./hosts";
export { jsonSchema } from "./json-schema";
export * from "./names";
export { parseSpec } from "./parse";
export { ConfigError, configPath, describeProblem } from "./problems";
export { certificateSource, ownCertificates } from "./source";
export * from "./types";
