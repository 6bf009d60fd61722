import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onPath } from "./command.ts";
import { testProgramsFolder } from "./debian.ts";
import { binary } from "./go-tools.ts";

/** The variables that tests run with: each program that they call, as far as it is there, by its exact place. */
export function testEnvironment(variables: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const programs = testProgramsFolder();
  return {
    ...variables,
    ...there("ETCD_BINARY", binary("etcd")),
    ...there("ETCD_BINARY_3_6", binary("etcd-3.6")),
    ...there("ETCD_BINARY_3_5", binary("etcd-3.5")),
    ...there("PULUMI_ETCD_WRITER", binary("etcd-writer")),
    ...there("PULUMI_ETCD_TEST_PROGRAMS", programs),
    // The machine's own comes first, if it has one.
    ...(onPath("openssl") ? {} : { PATH: [variables.PATH, join(programs, "bin")].join(delimiter) }),
  };
}

/** What the user has set counts. */
function there(variable: string, path: string): NodeJS.ProcessEnv {
  return process.env[variable] || !existsSync(path) ? {} : { [variable]: path };
}
