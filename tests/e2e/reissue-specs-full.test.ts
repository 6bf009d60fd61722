import { onScenario } from "./harness/case";
import { ALIASES, readLeaf, readSecret } from "./harness/certificates";
import { type Change, OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { describeOnCluster } from "./harness/suite";

/** A field of a certificate's specification, and how it shows in the leaf. */
interface Field extends Pick<Change, "name" | "renewed" | "secretNames"> {
  set: Record<string, string>;
  passes?: number;
  shows?: (leaf: { subject: string; names: string; hours: number; key: string; usages: string[] }) => void;
}

const FIELDS: Field[] = [
  {
    name: "subject",
    set: { "subject.organizations[0]": "Example", "subject.localities[0]": "Portland" },
    shows: ({ subject }) => expect(subject).toMatch(/L=Portland[\s\S]*O=Example/),
  },
  {
    name: "ipAddresses",
    set: { "ipAddresses[0]": "10.32.0.1" },
    shows: ({ names }) => expect(names).toContain("IP Address:10.32.0.1"),
  },
  {
    name: "uris",
    set: { "uris[0]": "spiffe://example.org/etcd" },
    shows: ({ names }) => expect(names).toContain("URI:spiffe://example.org/etcd"),
  },
  {
    name: "emailAddresses",
    set: { "emailAddresses[0]": "etcd@example.org" },
    shows: ({ names }) => expect(names).toContain("email:etcd@example.org"),
  },
  { name: "duration", set: { duration: "48h" }, shows: ({ hours }) => expect(hours).toBeCloseTo(48, 0) },
  // When it is renewed is nothing that the certificate itself says.
  { name: "renewBefore", set: { renewBefore: "12h" }, renewed: [] },
  {
    name: "privateKey.algorithm",
    set: { "privateKey.algorithm": "ECDSA" },
    shows: ({ key }) => expect(key).toBe("ec prime256v1"),
  },
  {
    name: "privateKey.size",
    set: { "privateKey.size": "384" },
    shows: ({ key }) => expect(key).toBe("ec secp384r1"),
  },
  {
    name: "usages",
    set: { "usages[0]": "code signing" },
    shows: ({ usages }) => expect(usages).toContain("1.3.6.1.5.5.7.3.3"),
  },
  { name: "secretName", set: { secretName: "etcd-server-tls" }, passes: 1, secretNames: { server: "etcd-server-tls" } },
];

describeOnCluster("each field of a certificate's specification", () => {
  const { step, current } = onScenario({ name: "specs", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await scenario.addTls();
    await scenario.stack.set({ "etcd:tls.certificates[0].alias": "server" });
  });

  describeCreation("created with TLS", step, current, "https");

  for (const { name, set, passes = 0, renewed, secretNames, shows } of FIELDS) {
    describeChange(`${name} of the server certificate`, step, current, {
      ...OVER_TLS,
      name,
      edit: ({ stack }) => stack.set(underServer(set)),
      passes,
      renewed: renewed ?? ["server"],
      ...(secretNames && { secretNames }),
    });
    if (shows) step(`${name} shows in the leaf`, async () => shows(await describeLeaf()));
  }

  const secretNames = { server: "etcd-server-tls" };

  describeChange("members that restart after every re-issue", step, current, {
    ...OVER_TLS,
    name: "restartPolicy Always",
    edit: ({ stack }) => stack.set({ "etcd:tls.restartPolicy": "Always" }),
    passes: 1,
    renewed: [],
    secretNames,
  });

  describeChange("rotation with a restart", step, current, {
    ...OVER_TLS,
    name: "rotate with restartPolicy Always",
    edit: ({ stack }) => stack.set({ "etcd:tls.rotate": "first" }),
    passes: 1,
    renewed: [...ALIASES],
    secretNames,
  });

  async function describeLeaf() {
    const leaf = await readLeaf(current(), "server");
    if (!leaf) throw new Error("there is no server certificate");
    const { asymmetricKeyType, asymmetricKeyDetails } = leaf.publicKey;
    expect(await readSecret(current(), "server")).toMatchObject({ "tls.key": expect.stringContaining("PRIVATE KEY") });
    return {
      subject: leaf.subject,
      names: leaf.subjectAltName ?? "",
      hours: (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 3_600_000,
      key: `${asymmetricKeyType} ${asymmetricKeyDetails?.namedCurve ?? asymmetricKeyDetails?.modulusLength}`,
      usages: leaf.keyUsage ?? [],
    };
  }
});

function underServer(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([path, value]) => [`etcd:tls.certificates[0].${path}`, value]));
}
