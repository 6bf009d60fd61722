import "./world/quick";
import { search, type Versions } from "./world";

test("upgrades and downgrades of etcd under faults", async () => {
  const versions: Versions[] = ["etcd 3.5 to 3.6", "etcd 3.6 to 3.7", "etcd 3.7 to 3.6", "etcd 3.6 to 3.5"];
  await search("walk-faults-versions", versions);
}, 3_600_000);
