import type { Scheme } from "../writer/config";
import type { Aftermath } from "./aftermath";
import { ALIASES, type Alias, leafSecret, type Source } from "./certificates";
import type { Change } from "./change";
import type { Inspection } from "./etcd-writer";
import type { Scenario } from "./scenario";

/** How things are to be once an update is over. */
export type Goal = Pick<Change, "to" | "admits" | "secretNames">;

/** Tests what must hold after every update, whatever it was. */
export function expectSettled(
  scenario: () => Scenario,
  goal: Goal,
  aftermath: () => Aftermath,
  inspection: () => Inspection,
): void {
  test("leaves nothing to do: preview is empty, and a further update restarts nothing", () => {
    expect(aftermath().previewTrouble).toBeUndefined();
    expect(aftermath().updateTrouble).toBeUndefined();
    expect(aftermath().uids.after).toEqual(aftermath().uids.before);
    expect(aftermath().uids.before).toHaveLength(scenario().members.length);
  });

  test("has all members on one revision, registered and serving as asked", () => {
    const { revisions, updateRevision } = aftermath();
    expect(new Set(revisions)).toEqual(new Set([updateRevision]));
    const hosts = scenario().members.map(({ name, address }) => ({ name, host: address.replace(/:2379$/, "") }));
    const members = [...inspection().members].sort((a, b) => (a.name < b.name ? -1 : 1));
    const registered = members.map(({ name, peerUrls, clientUrls }) => ({
      name,
      peerUrls,
      clientUrls: [...clientUrls].sort(),
    }));
    expect(registered).toEqual(
      hosts.map(({ name, host }) => ({
        name,
        peerUrls: [`${goal.to}://${host}:2380`],
        clientUrls: clientSchemes(goal).map((scheme) => `${scheme}://${host}:2379`),
      })),
    );
  });

  test("lets in who should get in, and nobody else", () => {
    const { plaintext, anonymousTls, tls } = { ...byScheme(goal.to), ...goal.admits };
    const outcome = (admitted: boolean) => (admitted ? "accepted" : expect.stringMatching(/^refused: /));
    expect(inspection().admission).toEqual(
      scenario().members.map(({ name }) => ({
        member: name,
        plaintext: outcome(plaintext),
        anonymousTls: outcome(anonymousTls),
        tls: outcome(tls),
      })),
    );
  });

  test("keeps keys, tokens and the kubeconfig out of the state and of what is printed", () => {
    const { findings, sought } = aftermath();
    expect(findings).toEqual([]);
    // Looking for nothing would find nothing.
    if (/^\s*"?(client-key-data|token)"?:/m.test(scenario().kube.kubeconfigText())) {
      expect(sought).toContainEqual(expect.stringMatching(/^kubeconfig (client-key-data|token)$/));
    }
    if (goal.to === "https") {
      // What is copied is sought once, under one of its names.
      const name = secretName(goal, aftermath(), "server");
      expect(sought).toContainEqual(expect.stringMatching(new RegExp(`/(${name}|given-server) tls\\.key$`)));
    }
  });

  test(goal.to === "https" ? "has its certificates" : "has no certificates, and no Secrets of them", () => {
    const certificates = ALIASES.flatMap((alias) => [
      ...(aftermath().source === "issuer" ? [`Certificate etcd-${alias}-cert`] : []),
      `Secret ${secretName(goal, aftermath(), alias)}`,
    ]);
    // One certificate may be two's.
    const expected = goal.to === "https" ? [...new Set(certificates), "ConfigMap etcd-trust-bundle"] : [];
    expect([...aftermath().tlsObjects].sort()).toEqual(expected.sort());
  });
}

function secretName({ secretNames }: Goal, { source }: { source: Source }, alias: Alias): string {
  return secretNames?.[alias] ?? leafSecret(alias, source);
}

function byScheme(scheme: Scheme) {
  return { plaintext: scheme === "http", anonymousTls: false, tls: scheme === "https" };
}

/** Where plaintext is held beside TLS, members are registered under both. */
function clientSchemes({ to, admits }: Goal): Scheme[] {
  return to === "https" && admits?.plaintext ? ["http", "https"] : [to];
}
