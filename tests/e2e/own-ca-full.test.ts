import { onScenario } from "./harness/case";
import { ALIASES, readSecret } from "./harness/certificates";
import { OVER_TLS } from "./harness/change";
import { describeChange, describeCreation } from "./harness/expectations";
import { verifyByOpenssl } from "./harness/openssl";
import { findSecrets } from "./harness/secret-scan";
import { expire } from "./harness/state-time";
import { describeOnCluster } from "./harness/suite";

describeOnCluster("every operation on a CA of the cluster's own", () => {
  const { step, current } = onScenario({ name: "own-ca-operations", replicas: 3, issuerKind: "Issuer" });

  describeCreation("created without TLS", step, current, "http");

  describeChange("adding TLS", step, current, {
    name: "add, own CA",
    from: "http",
    to: "https",
    edit: (each) => each.takeCertificatesFrom("ca", { "etcd:tls.ca.subject.organizations[0]": "Example" }),
    says: ["trust bundle: add O=Example, CN=etcd CA"],
  });

  step("every chain verifies", async () => {
    for (const alias of ALIASES) {
      const { "tls.crt": leaf = "", "ca.crt": ca = "" } = (await readSecret(current(), alias)) ?? {};
      verifyByOpenssl(current().folder, leaf, ca);
    }
  });

  step("the CA's key is in the state, encrypted, and nowhere else", async () => {
    const { stack, kube, namespace } = current();
    const pem = await stack.revealed("PrivateKey", "etcd-ca-1", "privateKeyPem");
    const [begin = "", firstLine = ""] = pem.split("\n");
    expect(begin).toBe("-----BEGIN EC PRIVATE KEY-----");
    expect(firstLine).toHaveLength(64);
    // The private part of a key on P-256 is in its first line; the last ones are the public key, which may be seen.
    const key = { name: "the CA's key", bytes: Buffer.from(firstLine) };
    expect(findSecrets(await stack.exportState(), [key])).toEqual([]);
    expect(findSecrets(stack.printed, [key])).toEqual([]);
    for (const kind of ["Secret", "ConfigMap"]) {
      const objects = await kube.list("v1", kind, namespace);
      expect(objects.length).toBeGreaterThan(0);
      for (const { data = {} } of objects as { data?: Record<string, string> }[]) {
        const texts = Object.values(data).map((value) => `${value}\n${Buffer.from(value, "base64").toString()}`);
        expect(findSecrets(texts.join("\n"), [key])).toEqual([]);
      }
    }
  });

  describeChange("another name in the server certificate", step, current, {
    ...OVER_TLS,
    name: "spec, own CA",
    edit: ({ stack }) =>
      stack.set({
        "etcd:tls.certificates[0].alias": "server",
        "etcd:tls.certificates[0].dnsNames[0]": "etcd.example.org",
      }),
    passes: 0,
    renewed: ["server"],
  });

  describeChange("rotation", step, current, {
    ...OVER_TLS,
    name: "rotate, own CA",
    edit: ({ stack }) => stack.set({ "etcd:tls.rotate": "first" }),
    passes: 0,
    renewed: [...ALIASES],
  });

  describeChange("a certificate whose time for renewal has come", step, current, {
    ...OVER_TLS,
    name: "due leaf, own CA",
    edit: (each) => expire(each, "LocallySignedCert", "etcd-peer"),
    passes: 0,
    renewed: ["peer"],
    says: [/LocallySignedCert etcd-peer replace/, "wait until every member serves its new certificates"],
  });

  describeChange("the CA's time for renewal has come", step, current, {
    ...OVER_TLS,
    name: "due CA, own CA",
    edit: (each) => expire(each, "SelfSignedCert", "etcd-ca-1"),
    passes: 2,
    renewed: [...ALIASES],
    says: [/SelfSignedCert etcd-ca-1 replace/, /widen: restart etcd-0/, /settle: restart etcd-0/],
  });

  describeChange("removing TLS", step, current, {
    name: "remove, own CA",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
  });
});
