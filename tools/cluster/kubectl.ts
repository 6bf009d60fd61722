import { output } from "../command.ts";
import { binary } from "../go-tools.ts";
import { paths } from "./clone.ts";

export function kubectl(...args: string[]): Promise<string> {
  return output(binary("kubectl"), args, { env: environment() });
}

export function apply(...objects: object[]): Promise<string> {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  return output(binary("kubectl"), ["apply", "--server-side", "-f", "-"], {
    env: environment(),
    input: JSON.stringify(list),
  });
}

function environment(): NodeJS.ProcessEnv {
  // HOME holds kubectl's discovery cache, which must not be the user's: addresses are reused by later clusters.
  return { PATH: process.env.PATH, HOME: paths.cluster, KUBECONFIG: paths.kubeconfig };
}
