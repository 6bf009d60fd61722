import { contains } from "../../rollout/contains";

const live = { replicas: 3, selector: { app: "db", pod: "db-0" }, ports: [{ port: 2379, protocol: "TCP" }] };

test.each<[string, unknown]>([
  ["the same", live],
  ["less of an object", { selector: { app: "db" } }],
  ["less of a list's items", { ports: [{ port: 2379 }] }],
  // The API server leaves out what is empty.
  ["an empty object where there is nothing", { template: {} }],
  ["nothing of a field", { replicas: 3, volumes: undefined }],
])("what is there contains %s", (_, wanted) => expect(contains(live, wanted)).toBe(true));

test.each<[string, unknown]>([
  ["another value", { replicas: 5 }],
  ["a field that is not there", { volumes: [] }],
  ["fields where there is a value", { replicas: { min: 3 } }],
  ["fields where there is nothing", { template: { spec: { hostNetwork: true } } }],
  ["a longer list", { ports: [{ port: 2379 }, { port: 2380 }] }],
  ["a list where there is an object", { selector: ["db"] }],
  ["null where there is an object", { selector: null }],
])("what is there does not contain %s", (_, wanted) => expect(contains(live, wanted)).toBe(false));
