import { eventually } from "./command";
import { etcdctl } from "./etcdctl";
import type { Scenario } from "./scenario";

const NAME = "learner";

/** Adds a learner to a plain cluster, in a pod that no workload made; returns how to take it away. */
export async function addLearner(scenario: Scenario): Promise<() => Promise<void>> {
  const { kube, namespace, members, environment } = scenario;
  const host = `${NAME}.${NAME}.${namespace}.svc.${environment.clusterDomain}`;
  const peers = members.map(({ name, address }) => `${name}=http://${address.replace(/\d+$/, "2380")}`);
  const metadata = { name: NAME, namespace };
  await kube.apply({
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP: "None", publishNotReadyAddresses: true, selector: { app: NAME }, ports: [{ port: 2380 }] },
  });
  await etcdctl(scenario, "http", "member", "add", NAME, "--learner", `--peer-urls=http://${host}:2380`);
  const { spec } = (await kube.get("v1", "Pod", members[0]?.name ?? "", namespace)) as unknown as PodOfMember;
  const args = [
    `--name=${NAME}`,
    "--data-dir=/tmp/data",
    "--listen-peer-urls=http://0.0.0.0:2380",
    `--initial-advertise-peer-urls=http://${host}:2380`,
    "--listen-client-urls=http://0.0.0.0:2379",
    `--advertise-client-urls=http://${host}:2379`,
    `--initial-cluster=${[...peers, `${NAME}=http://${host}:2380`].join(",")}`,
    "--initial-cluster-state=existing",
  ];
  const [{ image, imagePullPolicy, command }] = spec.containers;
  await kube.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, labels: { app: NAME } } as { name: string; namespace: string },
    spec: {
      hostname: NAME,
      subdomain: NAME,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "etcd", image, imagePullPolicy, command, args }],
    },
  });
  const id = await eventually("the learner to have started", 60_000, async () => {
    const list = await etcdctl(scenario, "http", "member", "list");
    return /^([0-9a-f]+), started, learner,/m.exec(list)?.[1];
  });
  return async () => {
    await etcdctl(scenario, "http", "member", "remove", id);
    await kube.delete("v1", "Pod", NAME, namespace);
    await kube.delete("v1", "Service", NAME, namespace);
  };
}

interface PodOfMember {
  spec: { containers: [{ image: string; imagePullPolicy: string; command: string[] }] };
}
