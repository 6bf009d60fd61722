import { explain, notIssued } from "../../rollout/certificate-status";
import type { Ports } from "../../rollout/ports";

const certificate = (conditions: object[], status: object = {}) =>
  ({
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name: "x" },
    status: { conditions, ...status },
  }) as never;

test.each<[string, object[], object, string | undefined]>([
  ["Ready", [{ type: "Ready", status: "True" }], {}, undefined],
  ["nothing said", [], {}, "cert-manager has not looked at it yet (is it running?)"],
  ["Ready without a reason", [{ type: "Ready", status: "False" }], {}, "not Ready"],
  ["a reason alone", [{ type: "Ready", status: "False", reason: "Expired" }], {}, "Expired"],
  [
    "failed the third time",
    [{ type: "Issuing", status: "False", reason: "Failed" }],
    { lastFailureTime: "2030-01-01T00:00:00Z", failedIssuanceAttempts: 3 },
    "could not be issued: Failed; cert-manager tries again at 2030-01-01T04:00:00.000Z, an update tries at once",
  ],
])("%s", (_, conditions, status, expected) => {
  expect(notIssued(certificate(conditions, status))).toBe(expected);
});

test("an object without a status, as it is when it was just made", () => {
  const { status: _, ...made } = certificate([]) as { status: object };
  expect(notIssued(made as never)).toContain("has not looked at it yet");
});

test("a request that waits for its issuer: which one, and why that is not Ready", async () => {
  const annotations = { "cert-manager.io/certificate-name": "x" };
  const message = "Referenced issuer does not have a Ready status condition";
  const conditions = [{ type: "Ready", status: "False", reason: "Pending", message }];
  const issuerRef = { kind: "Issuer", name: "ca", group: "cert-manager.io" };
  const request = { metadata: { annotations }, spec: { issuerRef }, status: { conditions } };
  const explained = (issuer: () => Promise<object>) =>
    explain({ kube: { list: async () => [request], issuer } } as unknown as Ports, "data", "x", "waiting");
  const waiting = `waiting; Pending: ${message}`;
  expect(await explained(async () => ({ ready: false, message: "secret not found" }))).toBe(
    `${waiting}; Issuer ca is not Ready: secret not found`,
  );
  expect(await explained(async () => ({ ready: true }))).toBe(waiting);
  // Whoever may not look at issuers is told the rest.
  expect(await explained(() => Promise.reject(new Error("Forbidden")))).toBe(waiting);
});

test("the newest request is the one that tells why", async () => {
  const request = (revision: string | undefined, conditions: object[]) => {
    const annotations = {
      "cert-manager.io/certificate-name": "x",
      ...(revision && { "cert-manager.io/certificate-revision": revision }),
    };
    return { apiVersion: "", kind: "", metadata: { name: "", annotations }, status: { conditions } };
  };
  const requests = [
    request(undefined, [{ type: "Ready", message: "of nobody knows when" }]),
    request("2", [{ type: "Denied", message: "no" }]),
  ];
  const ports = { kube: { list: async () => requests } } as unknown as Ports;
  expect(await explain(ports, "data", "x", "waiting")).toBe("waiting; Denied: no");
  const silent = { kube: { list: async () => [] } } as unknown as Ports;
  expect(await explain(silent, "data", "x", "waiting")).toBe("waiting");
});

test("a request for the leaf that is to be replaced says nothing of the next one", async () => {
  const annotations = { "cert-manager.io/certificate-name": "x", "cert-manager.io/certificate-revision": "4" };
  const issued = {
    metadata: { annotations },
    status: { conditions: [{ type: "Ready", reason: "Issued", message: "y" }] },
  };
  const ports = { kube: { list: async () => [issued] } } as unknown as Ports;
  expect(await explain(ports, "data", "x", "triggered", 4)).toBe(
    "triggered; cert-manager has not begun (is it running?)",
  );
  expect(await explain(ports, "data", "x", "triggered", 3)).toBe("triggered; Issued: y");
});
