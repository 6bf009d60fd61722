import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onScenario } from "./harness/case";
import { enableAuthentication } from "./harness/etcd-writer";
import { describeChange, describeCreation } from "./harness/expectations";
import { CLUSTER } from "./harness/scenario";
import { findSecrets } from "./harness/secret-scan";
import { describeOnCluster } from "./harness/suite";

const USER = { name: "root", password: "correct-horse-battery-staple" };
const SECRET = "database-root";

describeOnCluster("three members whose own authentication is switched on", () => {
  const { step, current } = onScenario({ name: "auth", replicas: 3, issuerKind: "Issuer" });

  async function putSecret(password: string): Promise<void> {
    const data = { username: base64(USER.name), password: base64(password) };
    const metadata = { name: SECRET, namespace: current().namespace };
    await current().kube.apply({ apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/basic-auth", data });
  }

  /** Pods and workload, which a refusal must leave as they are. */
  async function running(): Promise<string[]> {
    const workload = await current().kube.get("apps/v1", "StatefulSet", CLUSTER, current().namespace);
    const pods = await current().pods();
    return [`${workload?.metadata.resourceVersion}`, ...pods.map(({ name, uid }) => `${name} ${uid}`).sort()];
  }

  async function expectRefused(says: string[]): Promise<void> {
    const before = await running();
    const printed = await current().stack.previewRefused();
    for (const part of says) expect(printed).toContain(part);
    expect(printed).not.toContain("horse");
    expect(await running()).toEqual(before);
  }

  describeCreation("created in plaintext, before there is a user", step, current, "http");

  step("authentication is switched on", async () => {
    await enableAuthentication(current().environment, current().members, USER, current().folder);
    current().user = USER;
    await current().addTls();
  });

  step(
    "without a user the preview is refused",
    () =>
      expectRefused(["etcd:auth.secretName: is required", "etcdserver: user name is empty", "kubectl create secret"]),
    120_000,
  );

  step(
    "with a Secret that is not there it is refused",
    async () => {
      await current().stack.set({ "etcd:auth.secretName": SECRET });
      await expectRefused([`etcd:auth.secretName = "${SECRET}"`, "does not exist"]);
    },
    120_000,
  );

  step(
    "with a wrong password it is refused",
    async () => {
      await putSecret("wrong-horse-battery-staple");
      await expectRefused([`etcd:auth.secretName = "${SECRET}"`, "invalid user ID or password", "Correct username"]);
      await putSecret(USER.password);
    },
    120_000,
  );

  describeChange("adding TLS", step, current, { name: "add", from: "http", to: "https", edit: async () => {} });

  describeChange("removing TLS", step, current, {
    name: "remove",
    from: "https",
    to: "http",
    edit: (each) => each.removeTls(),
  });

  step("what was printed holds no password", () => {
    const secret = { name: "password", bytes: Buffer.from(USER.password) };
    for (const change of ["add", "remove"]) {
      for (const file of ["preview.txt", "up.txt"]) {
        const text = readFileSync(join(current().folder, change, file), "utf8");
        expect(text).toContain("etcd");
        expect(findSecrets(text, [secret])).toEqual([]);
      }
    }
  });
});

const base64 = (text: string) => Buffer.from(text).toString("base64");
