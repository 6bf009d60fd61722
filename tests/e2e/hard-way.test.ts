import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { onScenario } from "./harness/case";
import { readLeaf } from "./harness/certificates";
import { OVER_TLS } from "./harness/change";
import { repository } from "./harness/environment";
import { etcdctl } from "./harness/etcdctl";
import { describeChange, describeCreation } from "./harness/expectations";
import { describeOnCluster } from "./harness/suite";

/** What the stack's own file says of TLS, as `pulumi config set --path` takes it. */
function tlsOfStack(): Record<string, string> {
  const { config } = parse(readFileSync(join(repository, "stacks", "Pulumi.hard-way.yaml"), "utf8"));
  return flattened("etcd:tls", config["etcd:tls"]);
}

function flattened(path: string, value: unknown): Record<string, string> {
  if (Array.isArray(value)) return Object.assign({}, ...value.map((item, i) => flattened(`${path}[${i}]`, item)));
  if (typeof value !== "object" || value === null) return { [path]: String(value) };
  return Object.assign({}, ...Object.entries(value).map(([key, inner]) => flattened(`${path}.${key}`, inner)));
}

describeOnCluster("one member with one certificate for server and client", () => {
  const shared = { secretNames: { client: "etcd-server-own-cert" } } as const;
  const { step, current } = onScenario({ name: "hard-way", replicas: 1, issuerKind: "Issuer" }, async (scenario) => {
    await scenario.takeCertificatesFrom("ca", tlsOfStack());
    scenario.clientShows = "server";
  });

  describeCreation("created with TLS", step, current, "https", shared);

  step(
    "`etcdctl member list` works with the three files, and the certificate is the one that was asked for",
    async () => {
      expect(await etcdctl(current(), "https", "member", "list")).toMatch(/started, etcd-0/);
      const leaf = await readLeaf(current(), "server");
      expect(leaf?.subject.split("\n").sort()).toEqual(
        ["C=US", "ST=Oregon", "L=Portland", "O=Kubernetes", "OU=Kubernetes The Hard Way", "CN=kubernetes"].sort(),
      );
      expect(leaf?.issuer).toContain("CN=Kubernetes");
      expect(leaf?.subjectAltName).toContain("IP Address:10.32.0.1");
      expect(leaf?.subjectAltName).toContain("DNS:kubernetes.default.svc.cluster");
      expect(leaf?.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
      expect((Date.parse(leaf?.validTo ?? "") - Date.parse(leaf?.validFrom ?? "")) / 3_600_000).toBe(8760);
    },
  );

  describeChange("another generation of the CA", step, current, {
    ...OVER_TLS,
    ...shared,
    name: "generation, one member",
    edit: ({ stack }) => stack.set({ "etcd:tls.ca.generation": "2" }),
    passes: 2,
    retry: { overallMs: 30_000, eitherScheme: true },
  });
});
