import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * The variables of a machine on which nothing was ever fetched or built: every cache that this process would find is an
 * empty folder below `folder` instead. Where packages come from, and by which certificates, stays as it is set.
 */
export function emptyMachine(folder: string): NodeJS.ProcessEnv {
  const home = join(folder, "home");
  const apt = join(folder, "apt");
  for (const name of [home, join(apt, "lists", "partial"), join(apt, "cache", "archives", "partial")]) {
    mkdirSync(name, { recursive: true });
  }
  const settings = join(apt, "apt.conf");
  writeFileSync(settings, `Dir::State::Lists "${apt}/lists";\nDir::Cache "${apt}/cache";\n`);
  return {
    ...without(process.env, /^(XDG_.*_HOME|GOPATH|GOBIN|PULUMI_.*|ETCD_BINARY|npm_.*|NODE_OPTIONS|JEST_WORKER_ID)$/),
    PATH: withoutOwnNode(process.env.PATH ?? ""),
    HOME: home,
    GOMODCACHE: join(home, "go", "pkg", "mod"),
    GOCACHE: join(home, ".cache", "go-build"),
    // Go's module cache is read-only as a rule, and could not be removed again.
    GOFLAGS: "-modcacherw",
    npm_config_cache: join(home, ".npm"),
    APT_CONFIG: settings,
  };
}

function without(variables: NodeJS.ProcessEnv, pattern: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !pattern.test(name)));
}

/** The Makefile puts the Node that it has found or fetched in front. */
function withoutOwnNode(path: string): string {
  const own = dirname(process.execPath);
  return path
    .split(delimiter)
    .filter((folder) => folder !== own && !folder.endsWith("node_modules/.bin"))
    .join(delimiter);
}
