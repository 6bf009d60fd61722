import type { EtcdSpec, FieldChange } from "./types";

/** Changes that no member and no certificate notices. What a new version changes is the image. */
const SETTINGS = /^(rollout|createNamespace|version|auth)(\.|$)/;

/** A new token rotates once; taking the token away asks for nothing. */
export function isRotation(old: EtcdSpec, next: EtcdSpec): boolean {
  return next.tls?.rotate !== undefined && next.tls.rotate !== old.tls?.rotate;
}

/** Whether a change of a cluster that keeps its TLS takes other certificates, or other CAs to trust. */
export function isCertificateChange({ path }: FieldChange): boolean {
  return /^tls\.(issuerRef|ca|secrets|certificates|trustedCAs)\b/.test(path);
}

/** Whether a change of a cluster that keeps its TLS alters how it is spoken, with the certificates as they are. */
export function isProtocolChange({ path }: FieldChange): boolean {
  return /^tls\.(client|minVersion|cipherSuites)\b/.test(path);
}

/** Whether other hands sign: another issuer, another CA of its own, other Secrets, or another source altogether. */
export function isIssuerChange({ path }: FieldChange): boolean {
  return /^tls\.(certificates\[.*\]\.issuerRef\.|ca\b|secrets\b)/.test(path);
}

export function isTrustedCaChange({ path }: FieldChange): boolean {
  return /^tls\.trustedCAs\b/.test(path);
}

/** Whether a change may alter the members' pods for other reasons than TLS. */
export function isTemplateChange({ path }: FieldChange): boolean {
  return !SETTINGS.test(path) && !/^tls(\.|$)/.test(path);
}
