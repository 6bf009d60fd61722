import * as pulumi from "@pulumi/pulumi";
import { hoursOf } from "../config/own-ca";
import type { CaSpec } from "../config/types";

const HOUR_MS = 3_600_000;

/** How long ahead a renewal is announced at most, in hours. */
const AHEAD_HOURS = 30 * 24;

type Lifetime = Pick<CaSpec, "duration" | "renewBefore">;

/**
 * What to say of a certificate that only an update renews, and which is soon to be renewed; undefined where that is far
 * away. What is due already shows as a replacement in the same preview.
 */
export function renewalNotice(what: string, endsAt: string, lifetime: Lifetime, now: number): string | undefined {
  const end = Date.parse(endsAt);
  const renewHours = hoursOf(lifetime.renewBefore);
  const from = end - renewHours * HOUR_MS;
  // What lives for hours or days is not announced from its first moment on.
  const ahead = Math.min(AHEAD_HOURS, (hoursOf(lifetime.duration) - renewHours) / 2);
  if (from - now > ahead * HOUR_MS || now >= end) return undefined;
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return `${what} ends on ${day(end)}; the first update from ${day(from)} on makes it anew, and nothing does before that`;
}

/** Says so in preview and update, beside the resource. */
export function announceRenewal(
  resource: pulumi.Resource & { validityEndTime: pulumi.Output<string> },
  what: string,
  lifetime: Lifetime,
): void {
  resource.validityEndTime.apply((endsAt) => {
    const notice = endsAt && renewalNotice(what, endsAt, lifetime, Date.now());
    if (notice) void pulumi.log.warn(notice, resource);
  });
}
