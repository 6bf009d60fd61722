import { peekCa } from "../../rollout/issuer-ca";
import type { Ports } from "../../rollout/ports";
import { certificatesOf } from "../../rollout/x509";
import { Authority } from "./world/pki";

const root = Authority.root("root");
const middle = root.intermediate("middle");
const lower = middle.intermediate("lower");
const issuerRef = { name: "ca", kind: "Issuer", apiGroup: "cert-manager.io" };

/** The subjects of the CAs that an issuer over such a Secret is expected to name. */
async function peek(secret: { certificate: string; ca?: string }): Promise<string[]> {
  const kube = {
    get: async () => ({ spec: { ca: { secretName: "ca" } } }),
    secretMaterial: async () => ({ key: "", ...secret }),
  };
  const pem = await peekCa({ kube } as unknown as Ports, "data", issuerRef);
  return certificatesOf(pem ?? "").map(({ subject }) => subject);
}

describe("the CA of a CA issuer, as its Secret shows it, is what cert-manager will name", () => {
  test.each([
    ["a root alone", { certificate: root.certificate }, ["CN=root"]],
    ["a root, and itself as its CA", { certificate: root.certificate, ca: root.certificate }, ["CN=root"]],
    ["an intermediate with the root beside it", { certificate: middle.certificate, ca: root.certificate }, ["CN=root"]],
    ["a chain up to the root", { certificate: middle.certificate + root.certificate }, ["CN=root"]],
    ["an intermediate alone", { certificate: middle.certificate }, ["CN=middle"]],
    ["two intermediates without a root", { certificate: lower.certificate + middle.certificate }, ["CN=middle"]],
    // cert-manager reads but the first certificate of ca.crt; the root is added for libraries that insist on one.
    [
      "intermediates, and a bundle beside them",
      { certificate: lower.certificate, ca: middle.certificate + root.certificate },
      ["CN=middle", "CN=root"],
    ],
  ])("%s", async (_, secret, subjects) => {
    expect(await peek(secret)).toEqual(subjects);
  });

  test("an issuer of another kind shows nothing", async () => {
    const kube = { get: async () => ({ spec: { vault: {} } }) };
    expect(await peekCa({ kube } as unknown as Ports, "data", issuerRef)).toBeUndefined();
  });
});
