import type { MemberTls } from "./types";

/** What is kept of the TLS settings beside the members: names and settings, no secrets. */
export function memberTls({ certificates, client, minVersion, cipherSuites }: MemberTls): MemberTls {
  return {
    certificates: certificates.map(({ alias, secretName }) => ({ alias, secretName })),
    ...(client && { client: { auth: client.auth, alsoPlaintext: client.alsoPlaintext } }),
    ...(minVersion !== undefined && { minVersion }),
    ...(cipherSuites && { cipherSuites }),
  };
}
