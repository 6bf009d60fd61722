export { type Fault, type FaultKind, Faults } from "./faults";
export { Invariants } from "./invariants";
export { OWNER, up } from "./program";
export { plainSpec, tlsSpec } from "./specs";
export { World, type WorldOptions } from "./world";
export { Scenario } from "./scenario";
