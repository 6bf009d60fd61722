export { certificateSecret } from "./certificate-secret";
export { hosts } from "./hosts";
export { membership } from "./membership";
export { rollout } from "./rollout";
export { trustBundle } from "./trust-bundle";
