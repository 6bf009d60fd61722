/** What one member said about who leads. */
export interface LeaderSample {
  at: number;
  member: string;
  /** Member ID of the one that answered. */
  id: string;
  /** Member ID of the leader; `0` where it knows of none. */
  leader: string;
  term: number;
}

/** One member leading for one term. */
export interface Leadership {
  /** When a member was asked that was the first to know of it. */
  at: number;
  /** When a member was asked that still knew of the one before: an answer may come a good while after the question. */
  until: number;
  term: number;
  leader: string;
}

export function parseSamples(text: string): LeaderSample[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as LeaderSample];
      } catch {
        // The line that was being written when the sampler ended.
        return [];
      }
    });
}

/** Members learn of a new leader within this time; one that was cut off may take longer, and says nothing of the election. */
const KNOWN_WITHIN_MS = 500;

/** Who led when, by term. A term has one leader at most, so answers of all members go together. */
export function leaderships(samples: LeaderSample[]): Leadership[] {
  const names = new Map(samples.map(({ id, member }) => [id, member]));
  const byTerm = new Map<number, Leadership>();
  for (const { at, leader, term } of samples) {
    if (leader === "0") continue;
    const known = byTerm.get(term);
    if (!known || at < known.at) byTerm.set(term, { at, until: at, term, leader: names.get(leader) ?? leader });
  }
  for (const leadership of byTerm.values()) leadership.until = knownUntil(samples, leadership);
  return [...byTerm.values()].sort((a, b) => a.term - b.term);
}

function knownUntil(samples: LeaderSample[], { at: first, term: next }: Leadership): number {
  const before = samples.filter(({ at, term }) => term < next && at > first && at <= first + KNOWN_WITHIN_MS);
  return Math.max(first, ...before.map(({ at }) => at));
}

export function leaderAt(all: Leadership[], at: number): string | undefined {
  return all.findLast((leadership) => leadership.at <= at)?.leader;
}

/** Elections after `from` and up to `to`, those that the old leader won again included. */
export function electionsBetween(all: Leadership[], from: number, to: number): Leadership[] {
  return all.slice(1).filter((leadership) => leadership.at > from && leadership.at <= to);
}
