import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { installScript } from "../../../../manifests";
import { verifyMembership } from "../../../../rollout";
import { findEtcd } from "../etcd-process";
import { type Leaf, TestAuthority } from "../tls-material";
import { HostsCluster } from "./cluster";
import { describeWithHosts } from "./test-host";

jest.setTimeout(240_000);

const ADDRESS = "127.0.0.21";

describeWithHosts(
  "one host, installed by its script as the chapter has it; a small supervisor in systemd's place",
  () => {
    const cluster = new HostsCluster([ADDRESS]);
    const authority = new TestAuthority("Kubernetes");
    let server: Leaf;

    beforeAll(async () => {
      await cluster.start();
      server = cluster.leaf(authority, "kubernetes");
    });
    afterEach(() => cluster.close());
    afterAll(async () => {
      await cluster.remove();
      authority.remove();
    });

    const request = () => cluster.request({ name: "kubernetes", tls: {} }, [authority], { server });

    function memberList(...files: string[]) {
      const args = ["member", "list", `--endpoints=https://${ADDRESS}:2379`, "--command-timeout=5s", ...files];
      return spawnSync(join(dirname(findEtcd()!), "etcdctl"), args, { encoding: "utf8", timeout: 30_000 });
    }

    test("the script installs and starts it, and may run twice", async () => {
      const { spec, owner, ca, leaves } = request();
      const [host] = cluster.hosts;
      writeFileSync(join(host!.folder, "install.sh"), installScript(spec, 0, { ca: ca!, leaves }, owner));
      host!.inside(`sh ${host!.folder}/install.sh`);
      await verifyMembership(cluster.ports(spec), spec);
      host!.inside(`sh ${host!.folder}/install.sh`);
      await verifyMembership(cluster.ports(spec), spec);
    });

    test("etcdctl lists the member over TLS with three files, and is refused without a certificate", () => {
      const files = [`--cacert=${authority.caFile}`, `--cert=${server.certificateFile}`, `--key=${server.keyFile}`];
      expect(memberList(...files).stdout).toContain(
        `started, etcd-0, https://${ADDRESS}:2380, https://${ADDRESS}:2379`,
      );
      const refused = memberList(`--cacert=${authority.caFile}`);
      expect(refused.status).not.toBe(0);
      expect(refused.stdout).toBe("");
    });

    test("the engine finds what the script left, and has nothing to do", async () => {
      expect(await cluster.plan(request())).toEqual([]);
    });

    test("what is there and is not ours is refused", async () => {
      const [host] = cluster.hosts;
      host!.inside("systemctl stop etcd.service; rm -rf /etc/etcd/pulumi-etcd /etc/systemd/system/etcd.service");
      await expect(cluster.plan(request())).rejects.toThrow(
        /etcd-0: \/var\/lib\/etcd holds the data of another member/,
      );
      host!.inside("printf '[Service]\\nExecStart=/bin/true\\n' >/etc/systemd/system/etcd.service");
      await expect(cluster.plan(request())).rejects.toThrow(/the service etcd is there already/);
    });

    test("a host that lacks something says what", async () => {
      const lacking = cluster.request({ binary: { path: "/opt/etcd" } });
      await expect(cluster.plan(lacking)).rejects.toThrow(
        "etcd-0: etcd is not at /opt/etcd: install it, or set binary.file",
      );
    });
  },
);
