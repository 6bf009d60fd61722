import { authority, type LeafWish } from "./cert-manager";

/** What issuers do that are no CA of cert-manager's own: roles of Vault, ACME, external ones. */
export interface Habits {
  /** It signs for no longer, and for no less, than so many hours, whatever is asked. */
  atMostHours?: number;
  atLeastHours?: number;
  /** It dates certificates back by so many hours. */
  datesBackHours?: number;
  /** It answers so much later. */
  slowMs?: number;
  /** Why it denies a request; `undefined` if it does not. */
  denies?: (asked: LeafWish) => string | undefined;
  /** What comes besides the leaf. Default: the CA. */
  gives?: "a chain" | "a bundle" | "no CA";
}

/** A CA that an issuer names beside its own. */
const BESIDE = "beside";

/** `ca.crt` of what an issuer with that CA gives. */
export function givenCa(ca: string, { gives }: Habits = {}): string {
  if (gives === "no CA") return "";
  return gives === "a bundle" ? ca + authority(BESIDE).certificate : ca;
}

/** For how long such an issuer signs what is asked for so many hours. */
export function grantedHours(asked: number, { atMostHours = asked, atLeastHours = 0 }: Habits = {}): number {
  return Math.max(Math.min(asked, atMostHours), atLeastHours);
}
