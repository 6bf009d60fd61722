import { App, Chart } from "cdk8s";
import type { KubeObject } from "./types";

/** Runs constructs and returns what they render: plain JSON without undefined values, keys in a fixed order. */
export function synthesize(build: (scope: Chart) => void): KubeObject[] {
  const chart = new Chart(new App(), "etcd", { disableResourceNameHashes: true });
  build(chart);
  return chart.toJson() as KubeObject[];
}

/** The same for constructs that render one object. */
export function synthesizeOne(build: (scope: Chart) => void): KubeObject {
  const objects = synthesize(build);
  if (objects.length !== 1) throw new Error(`expected one object, rendered ${objects.length}`);
  return objects[0]!;
}
