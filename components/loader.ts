import type * as pulumi from "@pulumi/pulumi";

/** Which of the package's dynamic providers. */
export type ProviderName =
  | "rollout"
  | "trustBundle"
  | "membership"
  | "certificateSecret"
  | "leafSecret"
  | "copiedSecret"
  | "hosts";

/**
 * The provider code that Pulumi keeps in state: nothing but a loader. The methods themselves come from the package at
 * run time, so that an upgrade of the package is no difference and restarts nothing.
 *
 * The provider process runs in the project's folder: the package is found from there, whether the project is the
 * package itself or has it in its node_modules.
 */
export function loader(name: ProviderName): pulumi.dynamic.ResourceProvider {
  const provider = () => {
    const { createRequire } = require("node:module");
    return createRequire(`${process.cwd()}/package.json`)("pulumi-etcd/providers")[name];
  };
  return {
    configure: async (request) => provider().configure(request),
    check: async (olds, news) => provider().check(olds, news),
    diff: async (id, olds, news) => provider().diff(id, olds, news),
    create: async (inputs) => provider().create(inputs),
    read: async (id, props) => provider().read(id, props),
    update: async (id, olds, news) => provider().update(id, olds, news),
    delete: async (id, props) => provider().delete(id, props),
  };
}
