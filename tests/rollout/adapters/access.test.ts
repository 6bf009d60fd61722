import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { loadKubeConfig } from "../../../rollout/adapters";
import { serverOf } from "../../../rollout/adapters/access";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function content(names: string[], current?: string): string {
  return JSON.stringify({
    ...(current && { "current-context": current }),
    clusters: names.map((name) => ({ name, cluster: { server: `https://${name}:6443` } })),
    users: names.map((name) => ({ name, user: { token: `token-of-${name}` } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
  });
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("content, a path and a list of paths are all understood", () => {
  expect(serverOf(loadKubeConfig({ kubeconfig: content(["a"], "a") }))).toBe("https://a:6443");
  const a = file("a", content(["a"], "a"));
  const b = file("b", content(["b"], "b"));
  expect(serverOf(loadKubeConfig({ kubeconfig: b }))).toBe("https://b:6443");
  const list = [join(folder, "missing"), a, b].join(delimiter);
  expect(serverOf(loadKubeConfig({ kubeconfig: list }))).toBe("https://a:6443");
  expect(serverOf(loadKubeConfig({ kubeconfig: list, context: "b" }))).toBe("https://b:6443");
});

test("KUBECONFIG is merged as kubectl does: the first file that has a name wins", () => {
  const first = file("first", content(["a"]));
  const second = file("second", content(["a", "b"], "b").replace("https://a:6443", "https://shadowed:6443"));
  const env = { KUBECONFIG: [first, second].join(delimiter) };
  expect(serverOf(loadKubeConfig({}, env))).toBe("https://b:6443");
  expect(serverOf(loadKubeConfig({ context: "a" }, env))).toBe("https://a:6443");
});

test("another cluster can be put in the context's place", () => {
  const config = loadKubeConfig({ kubeconfig: content(["a", "b"], "a"), cluster: "b" });
  expect(serverOf(config)).toBe("https://b:6443");
  expect(config.getCurrentUser()?.name).toBe("a");
});

test("mistakes are named with what there is", () => {
  const kubeconfig = content(["a", "b"], "a");
  expect(() => loadKubeConfig({ kubeconfig, context: "c" })).toThrow('no context "c"; its contexts: a, b');
  expect(() => loadKubeConfig({ kubeconfig, cluster: "c" })).toThrow('no cluster "c"; its clusters: a, b');
  expect(() => loadKubeConfig({ kubeconfig: content(["a"]) })).toThrow("sets no current-context");
  expect(() => loadKubeConfig({ kubeconfig: join(folder, "missing") })).toThrow(/no kubeconfig file at .*missing/);
  expect(() => loadKubeConfig({}, { HOME: folder })).toThrow("KUBECONFIG is not set");
});

test("a kubeconfig that cannot be read is not quoted: it holds credentials", () => {
  const broken = file("broken", "users:\n- name: a\n  user: {token: hunter2\n");
  const error = (() => {
    try {
      loadKubeConfig({ kubeconfig: broken });
    } catch (caught) {
      return caught as Error;
    }
  })();
  expect(error?.message).toMatch(/broken cannot be read: .* at line \d/);
  expect(error?.message).not.toContain("hunter2");
});
