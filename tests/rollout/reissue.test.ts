import { goDurationSeconds } from "../../rollout/lifetime";
import { reissue, staleness, toRotate } from "../../rollout/reissue";
import { Scenario, tlsSpec } from "./world";
import { Authority, type IssueOptions } from "./world/pki";

const spec = tlsSpec(3, { rollout: { stepTimeout: "10s" } });
const peer = spec.tls!.certificates.find(({ alias }) => alias === "peer")!;
const { duration: _, renewBefore: __, ...withoutDuration } = peer;
const ca = Authority.root("ca");
const HOUR = 3_600_000;
const now = Date.parse("2030-01-01");
const hours = (from: number, to: number): IssueOptions => ({
  notBefore: new Date(now + from * HOUR),
  notAfter: new Date(now + to * HOUR),
  encoding: "PKCS1",
});

describe("a leaf that cert-manager is content with", () => {
  const stale = (asked: typeof withoutDuration, options: IssueOptions, from = ca, settled = ca.certificate) =>
    staleness({ ...from.issue("db", options) }, asked, settled, now);

  test.each<[string, () => string | undefined, string | undefined]>([
    ["is what was asked for", () => stale(withoutDuration, hours(-1, 2159)), undefined],
    ["is none at all", () => staleness({ certificate: "", key: "" }, peer, ca.certificate, now), "has no certificate"],
    [
      "has a key in another encoding",
      () => stale(withoutDuration, { ...hours(-1, 2159), encoding: "PKCS8" }),
      "its key is encoded as PKCS8",
    ],
    [
      "is cut by its issuer to less than it is to be renewed before its end",
      () => stale({ ...withoutDuration, renewBefore: "720h0m0s" } as never, hours(-1, 23)),
      undefined,
    ],
    [
      "comes from another CA",
      () => stale(withoutDuration, hours(-1, 2159), Authority.root("x")),
      "its issuer signs with another CA now",
    ],
    [
      "was not renewed in time",
      () => stale(withoutDuration, hours(-2000, 160)),
      "it ends on Jan  7 16:00:00 2030 GMT and was not renewed in time",
    ],
  ])("%s", (_, found, expected) => {
    expect(found()).toBe(expected);
  });
});

test("durations as Go writes them", () => {
  expect(goDurationSeconds(undefined)).toBeUndefined();
  expect(goDurationSeconds("1h2m3s")).toBe(3723);
  expect(goDurationSeconds("1500ms")).toBe(1.5);
});

test("without a token nothing is rotated", async () => {
  const { faults } = new Scenario(spec);
  expect(await faults.run((ports) => toRotate(ports, spec, undefined))).toEqual([]);
});

describe("a re-issue that does not come", () => {
  async function ends(change: (scenario: Scenario) => void): Promise<string> {
    const scenario = new Scenario(spec);
    await scenario.until(spec);
    change(scenario);
    return scenario.faults
      .run((ports) => reissue(ports, spec, peer))
      .then(
        () => "issued",
        (error: Error) => error.message,
      );
  }

  test("because the Certificate is gone", async () => {
    const message = await ends(({ world }) => void world.certManager.certificates.delete("db-peer-cert"));
    expect(message).toBe("waited 10 s for Certificate db-peer-cert to be marked for issue: it does not exist");
  });

  test("because nobody saw the condition", async () => {
    const message = await ends(({ world }) => {
      world.certManager.replaceStatus = () => {};
    });
    expect(message).toContain("cert-manager has not begun (is it running?)");
  });

  test("because cert-manager is away", async () => {
    const message = await ends(({ world }) => {
      world.certManager.awayUntil = Number.POSITIVE_INFINITY;
    });
    expect(message).toContain("ManuallyTriggered: Certificate re-issuance manually triggered by pulumi-etcd");
  });

  test("because the issuer refuses", async () => {
    const message = await ends(({ world }) => {
      world.certManager.failures = 1;
    });
    expect(message).toContain("Failed: the issuer refused");
  });
});
