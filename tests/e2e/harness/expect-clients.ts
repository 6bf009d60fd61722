import type { Change } from "./change";
import { explainFailures } from "./dropped-writes";
import type { Evidence } from "./operation";
import type { Scenario } from "./scenario";

/**
 * How many writes of the client without retries a move of leadership may cost: at forty a second, those of a twentieth
 * of a second. See `explainFailures`.
 */
const DROPPED_PER_MOVE = 2;

/** Tests what the clients noticed. */
export function expectClients(scenario: () => Scenario, change: Change, evidence: () => Evidence): void {
  const moves = change.from !== change.to;

  test(moves ? "fails no write, and both writers go over to the new scheme" : "fails no write", () => {
    const { writers, leaderships, startedAt } = evidence();
    for (const writer of writers) {
      if (moves) expect(writer.switchedAt).toBeGreaterThan(startedAt);
      // Without retries a single member's restart is bound to be noticed.
      if (scenario().members.length === 1 && writer.name === "go") continue;
      const elections = leaderships.slice(1);
      const { dropped, unexplained } = explainFailures(writer.failures, elections);
      expect({ writer: writer.name, unexplained }).toEqual({ writer: writer.name, unexplained: [] });
      // With retries, none at all.
      const allowed = writer.name === "go" ? elections.length * DROPPED_PER_MOVE : 0;
      expect({ writer: writer.name, ok: dropped.length <= allowed, dropped }).toMatchObject({ ok: true });
    }
  });

  test("loses no acknowledged write", () => {
    expect(evidence().lost).toEqual([]);
    for (const writer of evidence().writers) expect(writer.acknowledged).toBeGreaterThan(100);
  });

  if (moves) return;
  test("shows no error of TLS to clients that keep to the trust bundle and to their certificate's Secret", () => {
    for (const { name, tlsErrors } of evidence().writers) expect({ name, tlsErrors }).toEqual({ name, tlsErrors: [] });
    if (!change.renewed?.includes("client")) return;
    for (const { name, reloads } of evidence().writers) expect({ name, ok: reloads > 0 }).toEqual({ name, ok: true });
  });
}
