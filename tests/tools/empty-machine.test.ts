import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const repository = join(__dirname, "..", "..");

/**
 * Whatever is fetched or copied for a tool must come without the caches that an earlier run left: a machine that has
 * them hides it if something does not.
 */
describe("on a machine that has nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-etcd-empty-"));
  const env = evaluate<NodeJS.ProcessEnv>("empty-machine.ts", "emptyMachine", folder);
  const tools = evaluate<GoTool[]>("go-tool-list.ts", "goTools");
  const fetched = join(folder, "fetched");

  beforeAll(() => {
    mkdirSync(fetched);
    run(process.execPath, [join(repository, "tools", "cli.ts"), "fetch", fetched], { env });
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

  test.each(tools.map((tool) => [tool.name, tool] as const))("%s gets all that it is built from", (name, tool) => {
    const source = join(fetched, name, "source");
    expect(readdirSync(source)).toContain("go.mod");
    for (const { into, files } of tool.copies ?? []) {
      const target = into === "source" ? source : join(fetched, name);
      for (const file of Object.values(files)) expect(sizeOf(join(target, file))).toBeGreaterThan(100);
    }
    for (const { module, file, from, to } of tool.edits ?? []) {
      const text = readFileSync(join(source, "changed", module, file), "utf8");
      expect(text).toContain(to);
      expect(text).not.toContain(from);
    }
  });

  test.each(stubs().map((stub) => [stub.path, stub] as const))("%s is a stub", (path, { tool, text }) => {
    const source = join(fetched, tool, "source");
    const goFiles = readdirSync(join(source, "changed", path)).filter((name) => name.endsWith(".go"));
    expect(goFiles.map((name) => readFileSync(join(source, "changed", path, name), "utf8"))).toEqual([text]);
    const replaced = [...readFileSync(join(source, "go.mod"), "utf8").matchAll(/^replace (\S+) => \.\/changed\//gm)];
    expect(replaced.some(([, module]) => path.startsWith(module as string))).toBe(true);
  });

  test("containerd, the CNI plugins and an SSH server come from Debian", () => {
    const cache = join(folder, "home", ".cache", "pulumi-etcd");
    const [debian, programs] = ["debian", "test-programs"].map((name) => {
      return join(cache, readdirSync(cache).find((entry) => entry.startsWith(`${name}-`)) as string);
    }) as [string, string];
    for (const file of ["usr/bin/containerd", "usr/sbin/runc", "usr/lib/cni/ptp"]) {
      expect(sizeOf(join(debian, file))).toBeGreaterThan(1000);
    }
    expect(sizeOf(join(programs, "usr/sbin/sshd"))).toBeGreaterThan(1000);
    expect(run(join(programs, "bin", "openssl"), ["version"], { env })).toMatch(/^OpenSSL 3/);
  });

  test("a Node that is new enough comes from npm", () => {
    // A Node of this name that says it is an old one.
    const old = join(folder, "old-node");
    mkdirSync(old);
    const script = `#!/bin/sh\ncase "$*" in *process.versions.node*) echo 18 ;; *) exec "${process.execPath}" "$@" ;; esac\n`;
    writeFileSync(join(old, "node"), script, { mode: 0o755 });
    const path = [old, env.PATH].join(delimiter);
    const bin = run(join(repository, "tools", "node.sh"), [], { env: { ...env, PATH: path } }).trim();
    expect(bin).toContain(join(folder, "home"));
    expect(Number(/^v(\d+)\./.exec(run(join(bin, "node"), ["--version"], { env }))?.[1])).toBeGreaterThanOrEqual(24);
  }, 300_000);

  test("the packages of the lock file come from npm", () => {
    const clone = join(folder, "clone");
    mkdirSync(clone);
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      cpSync(join(repository, name), join(clone, name));
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"], { env, cwd: clone });
    expect(readdirSync(join(clone, "node_modules", "@pulumi"))).toEqual(
      expect.arrayContaining(["kubernetes", "pulumi", "tls"]),
    );
  }, 300_000);
});

interface GoTool {
  name: string;
  module?: string;
  copies?: { into: "source" | "tool"; files: Record<string, string> }[];
  stubs?: boolean;
  edits?: { module: string; file: string; from: string; to: string }[];
}

/** What a module of tools/ exports, or what its function returns: those modules are for Node alone. */
function evaluate<T>(file: string, name: string, ...args: unknown[]): T {
  const module = join(repository, "tools", file);
  const call = args.length > 0 ? `(...${JSON.stringify(args)})` : "";
  const script = `const m = await import(${JSON.stringify(module)}); console.log(JSON.stringify(m.${name}${call}));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
}

/** Every stub that is in the repository. */
function stubs(): { path: string; tool: string; text: string }[] {
  return evaluate<GoTool[]>("go-tool-list.ts", "goTools")
    .filter(({ stubs }) => stubs)
    .flatMap(({ name, module = name }) => {
      const root = join(repository, "tools", "modules", module, "stubs");
      const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".go"));
      return files.map((file) => ({
        path: file.slice(0, file.lastIndexOf("/")),
        tool: name,
        text: readFileSync(join(root, file), "utf8"),
      }));
    });
}

function sizeOf(path: string): number {
  const stat = statSync(path);
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : stat.size;
}

function run(command: string, args: string[], options: { env: NodeJS.ProcessEnv; cwd?: string }): string {
  const { status, stdout, stderr } = spawnSync(command, args, { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stderr}${stdout}`);
  return stdout;
}
