import { hostSans, parseHosts } from "../../config";
import { carryOutHosts, type HostsPorts, previewHosts } from "../../rollout";
import { Authority, type IssueOptions } from "./world/pki";

const members = [{ name: "etcd-0", address: "10.0.0.10" }];
const hosts = members.map((member) => ({ ...member, ssh: { user: "root" } }));
const { spec } = parseHosts({ hosts, tls: {} }, ["server"]);
const names = hostSans({ members: members.map((member) => ({ ...member, listenAddress: member.address })) });

/** Nothing on a host may be asked before the certificates are judged. */
const ports = {
  clock: { now: () => Date.parse("2030-01-01"), monotonic: () => 0, sleep: async () => {} },
  report: { step: () => {} },
  kube: {
    ping: async () => {
      throw new Error("the certificates were accepted");
    },
    workload: async () => {
      throw new Error("the certificates were accepted");
    },
  },
} as unknown as HostsPorts;

async function verdicts(ca: Authority, leaf: IssueOptions = {}, wanted = spec): Promise<string[]> {
  const server = ca.issue("kubernetes", { names, encoding: "PKCS8", ...leaf });
  const request = { spec: wanted, owner: "o/p/s", ca: ca.certificate, leaves: { server } };
  const told = (result: Promise<unknown>) =>
    result.then(
      () => "nothing",
      (error: Error) => error.message,
    );
  return [await told(previewHosts(ports, request)), await told(carryOutHosts(ports, request))];
}

test("a sound CA is accepted, in preview and in the update", async () => {
  for (const verdict of await verdicts(Authority.root("ca"))) expect(verdict).toBe("the certificates were accepted");
});

test("a key that no chosen suite of TLS 1.2 goes with is refused", async () => {
  const tls = { cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"] };
  const bound = parseHosts({ hosts, tls, extraArgs: { "tls-max-version": "TLS1.2" } }, ["server"]).spec;
  for (const verdict of await verdicts(Authority.root("ca"), {}, bound)) expect(verdict).toMatch(/has a key of ECDSA/);
});

test.each<[string, IssueOptions, IssueOptions, RegExp]>([
  [
    "a CA that has expired",
    { notAfter: new Date("2029-01-01") },
    {},
    /etcd refuses the certificate's chain: CN=ca .* exp/,
  ],
  ["a CA that is none", { intermediate: false }, {}, /etcd refuses the certificate's chain: CN=ca .* is no CA/],
  [
    "one certificate for everything that is for servers only",
    {},
    { usages: ["serverAuth"] },
    /CN=kubernetes .* is not for client auth/,
  ],
])("%s is refused, in preview and in the update, before a host is asked", async (_, root, leaf, why) => {
  for (const verdict of await verdicts(Authority.root("ca", root), leaf)) expect(verdict).toMatch(why);
});
