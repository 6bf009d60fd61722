import { ALIASES, normalSerial } from "./certificates";
import type { Change } from "./change";
import type { Evidence } from "./operation";
import type { Scenario } from "./scenario";

/** Tests what a change did to certificates and trust, with the suite's own look at both ports of every member. */
export function expectCertificates(scenario: () => Scenario, change: Change, evidence: () => Evidence): void {
  if (change.to === "https") {
    test("has every member serve, on both ports, the certificates that are in the Secrets", () => {
      const { server, peer } = evidence().serials.after;
      expect([server, peer]).not.toContain(undefined);
      const served = evidence().inspection.served.map(({ serial, ...rest }) => ({
        ...rest,
        ...(serial && { serial: normalSerial(serial) }),
      }));
      expect(served).toEqual(
        scenario().members.flatMap(({ name }) => [
          { member: name, port: "2379", serial: server },
          { member: name, port: "2380", serial: peer },
        ]),
      );
    });
  }

  const { renewed } = change;
  if (renewed) {
    test(`issues ${renewed.join(", ") || "no certificate"} anew, and leaves the others alone`, () => {
      const { before, after } = evidence().serials;
      expect(ALIASES.filter((alias) => before[alias] !== after[alias])).toEqual(
        ALIASES.filter((alias) => renewed.includes(alias)),
      );
    });
  }

  if (change.trusts) {
    test("leaves in the trust bundle the CAs that are wanted, and no others", () => {
      const { found, expected = [] } = evidence().trust;
      expect(expected).not.toEqual([]);
      expect(found.length).toBeGreaterThanOrEqual(1);
      for (const under of found) expect(under).toEqual(expected);
    });
  }
}
