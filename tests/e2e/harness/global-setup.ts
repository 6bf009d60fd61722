import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand, tail } from "./command";
import { environment, repository, skipReason, workFolder } from "./environment";

/** Builds the package as Pulumi's provider process loads it. */
export default async function setUp(): Promise<void> {
  if (skipReason() !== undefined) return;
  environment();
  if (!process.env.PULUMI_ETCD_WRITER) {
    throw new Error(
      "PULUMI_ETCD_WRITER does not name the Go client: run the suite with `make test-e2e`, which builds it",
    );
  }
  rmSync(workFolder, { recursive: true, force: true });
  mkdirSync(workFolder, { recursive: true });
  const tsc = join(repository, "node_modules", "typescript", "bin", "tsc");
  const build = await runCommand([process.execPath, tsc, "--build", "tsconfig.build.json"], {
    cwd: repository,
    env: process.env,
    timeoutMs: 180_000,
  });
  if (build.code !== 0) throw new Error(`the package could not be built:\n${tail(build.stdout + build.stderr)}`);
}
