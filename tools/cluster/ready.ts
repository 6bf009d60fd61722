import { Resolver } from "node:dns/promises";
import { UserError } from "../errors.ts";
import { sleep } from "../progress.ts";
import { paths } from "./clone.ts";
import { apply, kubectl } from "./kubectl.ts";
import { trial, trialNamespace } from "./objects.ts";
import { fixed, type Settings } from "./settings.ts";
import { checkRunning } from "./supervisor.ts";

/** Asks until the answer comes without an error. */
export async function eventually(what: string, settings: Settings, ask: () => Promise<unknown>, within = 90_000) {
  let last: unknown;
  for (const deadline = Date.now() + within; Date.now() < deadline; await sleep(200)) {
    checkRunning(settings);
    try {
      await ask();
      return;
    } catch (error) {
      last = error;
    }
  }
  const why = last instanceof Error ? last.message : String(last);
  throw new UserError(`${what} after ${within / 1000} s: ${why}\nSee the logs in ${paths.logs}`);
}

export function apiServerReady(settings: Settings): Promise<void> {
  return eventually("the API server is not ready", settings, () => kubectl("get", "--raw", "/readyz"));
}

export function nodeReady(settings: Settings): Promise<void> {
  return eventually("the node is not Ready", settings, () =>
    kubectl("wait", "--for=condition=Ready", `node/${fixed.nodeName}`, "--timeout=5s"),
  );
}

export function dnsAnswers(settings: Settings): Promise<void> {
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([settings.nodeAddress]);
  return eventually("the cluster's DNS does not answer", settings, () =>
    resolver.resolve4(`kubernetes.default.svc.${fixed.clusterDomain}`),
  );
}

/** Sees a volume being provisioned, a pod running and a certificate being issued, and removes them. */
export async function everythingWorks(settings: Settings): Promise<void> {
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: trialNamespace } });
  // Pods are refused until the controller manager has made the namespace's service account.
  await eventually("the trial objects are refused", settings, () => apply(...trial()));
  const waitFor = (condition: string, object: string) =>
    eventually(`${object} has not met ${condition}`, settings, () =>
      kubectl("wait", `--for=condition=${condition}`, object, "-n", trialNamespace, "--timeout=5s"),
    );
  await Promise.all([waitFor("Ready", "pod/trial"), waitFor("Ready", "certificate/trial")]);
  await kubectl("delete", "namespace", trialNamespace, "--wait=false");
}
