export { EngineKilled, type Fault, type FaultKind, Faults } from "./faults";
export { Invariants } from "./invariants";
export { OWNER, up } from "./program";
export { live } from "./run";
export { Scenario } from "./scenario";
export { type Change, durations, type Schedule, schedule, searchParameters } from "./schedule";
export { plainSpec, tlsSpec } from "./specs";
export { World, type WorldOptions } from "./world";
