import { aboutDuration, elapsed, report } from "./progress.ts";

interface Piece {
  name: string;
  action: string;
  /** About how many seconds of one core. */
  seconds: number;
}

/** How much of a machine's cores a build keeps busy: linking is done by one of them. */
const BUSY = 0.85;

/** Pieces that are carried out one after the other: says which of how many, and about how long is left. */
export class WorkList {
  readonly #pieces: Piece[];
  readonly #started = Date.now();
  #done = 0;
  /** Seconds of the clock for each estimated second: a guess at first, then what this machine has shown. */
  #pace: number;

  constructor(pieces: Piece[], cores: number) {
    this.#pieces = pieces;
    this.#pace = 1 / Math.max(1, cores * BUSY);
  }

  /** Carries out the next piece, and returns how many seconds that took. */
  async next(make: () => Promise<void>): Promise<number> {
    const piece = this.#pieces[this.#done] as Piece;
    const number = `[${this.#done + 1}/${this.#pieces.length}]`;
    const started = Date.now();
    report(`${number} ${piece.action} (${this.left()} left) ...`);
    const beat = setInterval(
      () => report(`${number} ${piece.name}: ${elapsed(started)} so far, ${this.left(started)} left`),
      60_000,
    );
    try {
      await make();
    } finally {
      clearInterval(beat);
    }
    this.#done += 1;
    this.#calibrate();
    report(`${number} ${piece.name}: ${elapsed(started)}`);
    return (Date.now() - started) / 1000;
  }

  /** About how long the pieces take that are not done yet; of the one in hand, `since` when it is. */
  left(since = Date.now()): string {
    const estimates = this.#pieces.slice(this.#done).map(({ seconds }) => seconds * this.#pace);
    const [current = 0, ...others] = estimates;
    // A piece that takes longer than thought is about to end: nothing better is known of it.
    const rest = Math.max(current - (Date.now() - since) / 1000, 5);
    return aboutDuration(others.reduce((sum, seconds) => sum + seconds, rest));
  }

  #calibrate(): void {
    const done = this.#pieces.slice(0, this.#done).reduce((sum, { seconds }) => sum + seconds, 0);
    if (done >= 30) this.#pace = (Date.now() - this.#started) / 1000 / done;
  }
}
