import { durationSeconds } from "./formats";
import { keySpec } from "./key";
import type { Identity } from "./names";
import type { CaInput } from "./schema-tls";
import { withoutAbsent } from "./subject";
import type { CaSpec, CertificateSpec } from "./types";

/** Ten years: a CA of one's own is changed by a generation, not by the calendar. */
const CA_HOURS = 87600;
/** A year: nothing renews a certificate between updates. */
const LEAF_HOURS = 8760;

/** Fills every default into `tls.ca`. */
export function caSpec(wish: CaInput, { name }: Pick<Identity, "name">): CaSpec {
  const generation = wish.generation ?? 1;
  const duration = wish.duration ?? goHours(CA_HOURS);
  return {
    commonName: wish.commonName ?? `${name} CA${generation === 1 ? "" : ` ${generation}`}`,
    subject: withoutAbsent(wish.subject ?? {}),
    privateKey: keySpec(wish.privateKey ?? {}, "ECDSA"),
    duration,
    renewBefore: wish.renewBefore ?? goHours(Math.floor(hoursOf(duration) / 10)),
    generation,
  };
}

export function ownLeafLifetime(duration = goHours(LEAF_HOURS), renewBefore?: string): Required<Lifetime> {
  return { duration, renewBefore: renewBefore ?? goHours(Math.floor(hoursOf(duration) / 3)) };
}

type Lifetime = Pick<CertificateSpec, "duration" | "renewBefore">;

/** A Go duration in hours, as @pulumi/tls counts lifetimes. */
export function hoursOf(duration: string): number {
  return durationSeconds(duration)! / 3600;
}

function goHours(hours: number): string {
  return `${hours}h`;
}
