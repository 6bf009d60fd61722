export { certificateSecret } from "./certificate-secret";
export { membership } from "./membership";
export { rollout } from "./rollout";
export { trustBundle } from "./trust-bundle";
