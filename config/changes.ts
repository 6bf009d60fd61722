import type { EtcdSpec, FieldChange } from "./types";

/** Changes that no member and no certificate notices. What a new version changes is the image. */
const SETTINGS = /^(rollout|createNamespace|version)(\.|$)/;

/** A new token rotates once; taking the token away asks for nothing. */
export function isRotation(old: EtcdSpec, next: EtcdSpec): boolean {
  return next.tls?.rotate !== undefined && next.tls.rotate !== old.tls?.rotate;
}

/** Whether a change of a cluster that keeps its TLS takes other certificates. */
export function isCertificateChange({ path }: FieldChange): boolean {
  return path.startsWith("tls.") && path !== "tls.rotate";
}

/** Whether a change may alter the members' pods for other reasons than TLS. */
export function isTemplateChange({ path }: FieldChange): boolean {
  return !SETTINGS.test(path) && !/^tls(\.|$)/.test(path);
}
