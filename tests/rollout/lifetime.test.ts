import type { KubeObject } from "../../manifests";
import { lifetimeFault } from "../../rollout/lifetime";
import type { Ports } from "../../rollout/ports";
import { tlsSpec } from "./world";
import { Authority } from "./world/pki";

const spec = tlsSpec();
const { duration: _, ...asked } = spec.tls!.certificates.find(({ alias }) => alias === "peer")!;
const ca = Authority.root("ca");

interface Request {
  duration?: string;
  ready?: boolean;
  name?: string;
}

/** The requests in the order of their revisions. */
async function judged(hours: number, wanted: string | undefined, ...requests: Request[]): Promise<string | undefined> {
  const objects = requests.map(({ duration, ready = true, name = "db-peer-cert" }, index) => ({
    metadata: {
      name,
      annotations: {
        "cert-manager.io/certificate-name": name,
        "cert-manager.io/certificate-revision": String(index + 1),
      },
    },
    spec: duration === undefined ? {} : { duration },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  }));
  const kube = { list: async () => objects as unknown as KubeObject[] };
  const notBefore = new Date("2026-01-01T00:00:00Z");
  const leaf = ca.issue("leaf", { notBefore, notAfter: new Date(notBefore.getTime() + hours * 3_600_000) });
  return lifetimeFault(
    { kube } as unknown as Ports,
    spec,
    { ...asked, ...(wanted !== undefined && { duration: wanted }) },
    leaf,
  );
}

describe("how long a leaf lives", () => {
  test.each<[string, () => Promise<string | undefined>, string | undefined]>([
    ["as was asked for", () => judged(2160, undefined, { duration: "5h" }), undefined],
    ["less, because its issuer cuts it", () => judged(24, undefined, {}), undefined],
    ["less than the named duration", () => judged(24, "2160h0m0s", { duration: "2160h0m0s" }), undefined],
    ["longer, because its issuer raises it", () => judged(8760, "24h0m0s", { duration: "24h0m0s" }), undefined],
    ["less, for a duration that the spec has dropped", () => judged(24, undefined, { duration: "24h" }), "24 h"],
    [
      "longer, for a duration that the spec has dropped",
      () => judged(9000, undefined, { duration: "9000h" }),
      "9000 h",
    ],
    ["the default, and the spec has come to name a duration", () => judged(2160, "48h0m0s", {}), "2160 h"],
    ["nobody knows for which request", () => judged(24, undefined), undefined],
    [
      "nobody knows, and another's request is there",
      () => judged(24, undefined, { duration: "24h", name: "x" }),
      undefined,
    ],
    [
      "what a request that was not granted asked for",
      () => judged(24, undefined, {}, { duration: "24h", ready: false }),
      undefined,
    ],
    ["what the newest request asked for", () => judged(24, undefined, { duration: "24h" }, {}), undefined],
  ])("%s", async (_, found, expected) => {
    expect(await found()).toBe(expected && `it was made for ${expected}`);
  });
});
