export { certificateSecret } from "./certificate-secret";
export { copiedSecret } from "./copied-secret";
export { hosts } from "./hosts";
export { leafSecret } from "./leaf-secret";
export { membership } from "./membership";
export { rollout } from "./rollout";
export { trustBundle } from "./trust-bundle";
