import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "..", "..");
const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

const packages = Object.entries<string>(manifest(".").dependencies).filter(([name]) =>
  Boolean(name.startsWith("@pulumi/") && manifest(`node_modules/${name}`).pulumi?.resource),
);

test("there are packages that need a plugin", () => {
  expect(packages.map(([name]) => name)).toContain("@pulumi/kubernetes");
});

// The CLI looks for a plugin of exactly the version that the npm package names, and downloads it if there is none.
describe.each(packages)("%s", (name, version) => {
  test("is pinned to the version of the plugin that it asks for", () => {
    const { pulumi } = manifest(`node_modules/${name}`);
    expect(version).toBe(pulumi.version);
  });

  test("has a plugin that is built", () => {
    const plugin = `pulumi-resource-${name.slice("@pulumi/".length)}`;
    expect(readFileSync(join(root, "tools", "go-tool-list.ts"), "utf8")).toContain(`: "${plugin}"`);
  });
});
