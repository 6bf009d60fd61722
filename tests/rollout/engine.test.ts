import { certificateName, type EtcdSpec, trustBundleName } from "../../config";
import { BRIDGE, PLAIN, renderWorkload, TLS } from "../../manifests";
import { carryOut, type Ports, previewRollout, previewTrust, widenTrust } from "../../rollout";
import { observe } from "../../rollout/observe";
import { issuersOf } from "../../rollout/preflight";
import { hashOf, renderStage } from "../../rollout/render";
import { ClusterView } from "../../rollout/view";
import { FatalError } from "../../rollout/wait";
import { givenSpec, OWNER, ownCaSpec, plainSpec, Scenario, tlsSpec, up } from "./world";
import { authority } from "./world/cert-manager";

const tls = tlsSpec(3, { rollout: { stepTimeout: "60s" } });
const plain = plainSpec(3, { rollout: { stepTimeout: "60s" } });
const request = (spec: EtcdSpec, more: object = {}) => ({ spec, owner: OWNER, ...more });

async function settled(spec = tls): Promise<Scenario> {
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  return scenario;
}

/** What an update ends with: its error's message. */
const fails = (scenario: Scenario, engine: (ports: Ports) => Promise<unknown>): Promise<string> =>
  scenario.faults.run(engine).then(
    () => "succeeded",
    (error: Error) => error.message,
  );

describe("refused, with nothing changed", () => {
  test("another program's cluster: in preview, and in an update without one", async () => {
    const scenario = await settled();
    const foreign = { spec: tls, owner: "organization/other/test" };
    const before = scenario.world.workload?.applied;
    for (const update of [previewRollout, carryOut]) {
      const message = await fails(scenario, (ports) => update(ports, foreign, tls));
      expect(message).toContain(`belongs to ${OWNER}`);
    }
    expect(scenario.world.workload?.applied).toBe(before);
  });

  test("two operations in one update, before it is asked whether the cluster could carry them out", async () => {
    const scenario = await settled();
    const both = tlsSpec(3, { tls: { issuerRef: { name: "nobody-knows", kind: "Issuer" }, rotate: "now" } });
    const message = await fails(scenario, (ports) => previewRollout(ports, request(both), tls));
    expect(message).toContain("only one TLS reconfiguration operation is allowed at a time");
  });

  test.each([
    ["https", plain, "absent", "Start the cluster with TLS as it was"],
    ["http", tls, "set", "Start the cluster with TLS off"],
  ])("a new cluster on volumes whose members know each other by %s", async (scheme, spec, value, mend) => {
    const scenario = new Scenario(spec);
    const metadata = { name: "data-db-0", annotations: { "pulumi-etcd/peer-scheme": scheme } };
    const message = await fails(scenario, (ports) => {
      const get: Ports["kube"]["get"] = async (apiVersion, kind, namespace, name) =>
        kind === "PersistentVolumeClaim"
          ? { apiVersion, kind, metadata }
          : ports.kube.get(apiVersion, kind, namespace, name);
      return previewRollout({ ...ports, kube: { ...ports.kube, get } }, request(spec));
    });
    expect(message).toContain(`etcd:tls = "${value}"`);
    expect(message).toContain(mend);
  });
});

test("a plain cluster names no issuers", () => {
  expect(issuersOf(plain)).toEqual([]);
});

describe("certificates besides what Pulumi's own rows do", () => {
  test("one that somebody deleted is restored, as preview says", async () => {
    const scenario = await settled();
    const name = certificateName(tls, "peer");
    scenario.world.certManager.delete(name);
    const { settled: ca } = scenario.state.trust!;
    const preview = await scenario.faults.run((ports) => previewRollout(ports, request(tls, { settled: ca }), tls));
    expect(preview.plan).toContain(`restore Certificate ${name}`);
    const { steps } = await scenario.faults.run((ports) => carryOut(ports, request(tls, { settled: ca }), tls));
    expect(steps).toContain(`restore Certificate ${name}`);
    expect(scenario.world.certManager.certificates.has(name)).toBe(true);
    scenario.verify();
  });

  test("a CA that changed behind the issuer's name: all leaves are re-issued between widening and settling", async () => {
    const scenario = await settled();
    scenario.world.certManager.addIssuer("Issuer", "ca-a", { authority: authority("successor") });
    const { planned, recorded } = await scenario.once(tls);
    expect(recorded.filter((step) => step.startsWith("re-issue"))).toHaveLength(3);
    expect(recorded).toContain("trust bundle: drop CN=ca-a");
    expect(recorded).toEqual(planned);
    scenario.checkReached(tls);
    scenario.verify();
  });

  test("Secrets of other names: members move to them while the trust is widened, with the leaves that they have", async () => {
    const scenario = await settled();
    const certificates = [{ alias: "peer", secretName: "peers" }];
    const other = tlsSpec(3, {
      rollout: { stepTimeout: "60s" },
      tls: { issuerRef: { name: "ca-b", kind: "Issuer" }, certificates },
    });
    const { planned, recorded } = await scenario.once(other);
    expect(recorded).toEqual(planned);
    for (const member of ["db-0", "db-1", "db-2"]) {
      const restarts = recorded.filter((step) => step.endsWith(`restart ${member}`));
      expect(restarts).toEqual([`widen: restart ${member}`, `settle: restart ${member}`]);
    }
    scenario.checkReached(other);
    scenario.verify();
  });
});

test("a token that was for an own CA's certificates rotates nothing that an issuer has just made", async () => {
  const scenario = new Scenario(ownCaSpec(3, { rotate: "1" }));
  await scenario.once(ownCaSpec(3, { rotate: "1" }));
  const issued = tlsSpec(3, { tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, rotate: "1" } });
  const { planned, recorded } = await scenario.once(issued);
  expect(recorded).toEqual(planned);
  expect(recorded.filter((step) => step.startsWith("re-issue"))).toEqual([]);
  const again = await scenario.once(issued);
  expect([...again.planned, ...again.recorded]).toEqual([]);
});

describe("adding TLS, killed in its first pass", () => {
  async function killedAt(eviction: number): Promise<Scenario> {
    const scenario = await settled(plain);
    let evictions = 0;
    const killed = scenario.faults.run((ports) => {
      const evict: Ports["kube"]["evict"] = async (...pod) => {
        evictions += 1;
        if (evictions === eviction) throw new FatalError("killed");
        return ports.kube.evict(...pod);
      };
      return up({ ...ports, kube: { ...ports.kube, evict } }, tls, scenario.state);
    });
    await expect(killed).rejects.toThrow("killed");
    return scenario;
  }

  test("is taken up by the walk, and not by a widening of the trust", async () => {
    const scenario = await killedAt(2);
    const { planned, recorded } = await scenario.once(tls);
    expect(recorded).toEqual(planned);
    const passes = recorded.filter((step) => step.includes("restart ")).map((step) => step.split(":")[0]);
    expect(passes).toEqual([...Array(2).fill("pass 1/2"), ...Array(3).fill("pass 2/2")]);
  });

  test("and gone on with under another issuer: those without TLS come to it while the trust is widened", async () => {
    const scenario = await killedAt(2);
    const other = tlsSpec(3, { rollout: { stepTimeout: "60s" }, tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } });
    const { planned, recorded } = await scenario.once(other);
    expect(recorded).toEqual(planned);
    scenario.checkReached(other);
    scenario.verify();
  });
});

describe("a move between sources, killed once the old CA was dropped from the bundle", () => {
  const moved = ["widen", "settle"];
  const movedLater = ["widen", "move", "settle"];

  test.each<[string, EtcdSpec, EtcdSpec, EtcdSpec, string[]]>([
    ["turned back to leaves that every member trusts still", tlsSpec(), ownCaSpec(), tlsSpec(), moved],
    ["on to a CA that is not made yet", ownCaSpec(), tlsSpec(), ownCaSpec(3, { ca: { generation: 3 } }), movedLater],
    ["on to other given Secrets", givenSpec(), ownCaSpec(), givenSpec(3, "others"), movedLater],
  ])("%s: what is done is what preview said", async (_, before, meanwhile, after, expected) => {
    const scenario = await settled(before);
    const bundle = () => scenario.world.configMaps.get(trustBundleName(before))?.data?.["ca.crt" as never];
    const first = bundle();
    let wide: unknown;
    const killed = scenario.faults.run((ports) => {
      const apply: Ports["kube"]["apply"] = async (object, options) => {
        const applied = await ports.kube.apply(object, options);
        if (object.kind === "ConfigMap" && wide !== undefined && bundle() !== wide) throw new FatalError("killed");
        if (object.kind === "ConfigMap" && bundle() !== first) wide ??= bundle();
        return applied;
      };
      return up({ ...ports, kube: { ...ports.kube, apply } }, meanwhile, scenario.state);
    });
    await expect(killed).rejects.toThrow("killed");
    const { planned, recorded } = await scenario.once(after);
    expect(recorded).toEqual(planned);
    const passes = recorded.flatMap((step) => (step.includes("restart db-1") ? [step.split(":")[0]] : []));
    expect(passes).toEqual(expected);
    scenario.checkReached(after);
    scenario.verify();
  });
});

test("plaintext held for clients: the stage is named by both planes, and lifted by a walk of its own", async () => {
  const held = tlsSpec(3, { tls: { issuerRef: { name: "ca-a", kind: "Issuer" }, client: { alsoPlaintext: true } } });
  const scenario = await settled(plain);
  const { recorded } = await scenario.once(held);
  expect(recorded).toContain("pass 2/2: set the member template to tls (clients: bridge)");
  const { recorded: lifted, planned } = await scenario.once(tls);
  expect(lifted).toEqual(planned);
  expect(lifted[0]).toBe("pass 1/1: set the member template to tls");
  scenario.verify();
});

describe("an issuer whose CA cannot be seen", () => {
  async function unseen(spec: EtcdSpec, scenario: Scenario) {
    scenario.world.certManager.addIssuer("Issuer", "ca-a", { type: "vault", authority: authority("ca-a") });
    return scenario.faults.run(async (ports) => ({
      trust: await previewTrust(ports, request(spec)),
      rollout: await previewRollout(ports, request(spec), scenario.state.spec),
    }));
  }

  test("preview says that it does not know, where members run TLS", async () => {
    const { trust } = await unseen(tls, await settled());
    expect(trust.plan).toEqual(["ask Issuer ca-a for its CA"]);
    expect(trust.notes.join()).toContain("is not known before it is asked");
  });

  test("and nothing where none does; the walk is planned all the same", async () => {
    const { trust, rollout } = await unseen(tls, await settled(plain));
    expect(trust.notes).toEqual([]);
    expect(rollout.plan.filter((step) => step.includes("restart"))).toHaveLength(6);
  });
});

describe("members that cannot be asked", () => {
  const members = async (scenario: Scenario, view: (ports: Ports) => ClusterView) =>
    fails(scenario, async (ports) => view(ports).members(await ports.kube.pods(tls)));

  test("because nobody knows their client certificate", async () => {
    const message = await members(await settled(), (ports) => new ClusterView(ports, tls, undefined));
    expect(message).toBe("data/db: members serve TLS, but no client certificate is known");
  });

  test("but by a leaf of their own, if the client's Secret is gone", async () => {
    const scenario = await settled();
    scenario.world.certManager.secrets.delete("db-client-cert");
    const { members: found } = await scenario.faults.run((ports) => observe(ports, tls));
    expect(found).toHaveLength(3);
  });

  test("because every Secret is gone", async () => {
    const scenario = await settled();
    scenario.world.certManager.secrets.clear();
    const message = await members(scenario, (ports) => new ClusterView(ports, tls, tls.tls));
    expect(message).toContain("Secret data/db-client-cert (the client certificate) is missing");
    const { silence } = await scenario.faults.run((ports) => observe(ports, tls));
    expect(silence).toBe(message);
  });

  test("because the trust bundle is gone", async () => {
    const scenario = await settled();
    scenario.world.configMaps.delete(trustBundleName(tls));
    const message = await members(scenario, (ports) => new ClusterView(ports, tls, tls.tls));
    expect(message).toContain(`ConfigMap data/${trustBundleName(tls)} with the trusted CAs is missing`);
  });
});

describe("what a walk renders", () => {
  test("a stage with TLS needs certificates that somebody knows", () => {
    const rendering = { spec: plain, owner: OWNER, trustRevision: "x" };
    expect(() => renderStage(rendering, BRIDGE, true)).toThrow("data/db: members need TLS to walk on");
    expect(hashOf(rendering, BRIDGE)).toBeUndefined();
    expect(hashOf(rendering, PLAIN)).toMatch(/^[0-9a-f]{16}$/);
    expect(hashOf({ spec: tls, owner: OWNER, tls: tls.tls! }, TLS)).toBeUndefined();
  });
});

describe("a walk that is stopped", () => {
  const other = plainSpec(3, { rollout: { stepTimeout: "60s" }, extraArgs: { "snapshot-count": 5000 } });

  /** The update, with something that happens right before a call. */
  async function disturbed(call: "evict" | "apply", disturb: (scenario: Scenario) => void): Promise<string> {
    const scenario = await settled(plain);
    return fails(scenario, (ports) => {
      const first = ports.kube[call] as (...args: unknown[]) => Promise<never>;
      const changed = async (...args: unknown[]) => {
        const answer = await first(...args);
        disturb(scenario);
        return answer;
      };
      return carryOut({ ...ports, kube: { ...ports.kube, [call]: changed } }, request(other), plain);
    });
  }

  test("because the workload is gone", async () => {
    const message = await disturbed("apply", ({ world }) => {
      world.workload = undefined;
    });
    expect(message).toBe("StatefulSet db is gone");
  });

  test("because somebody has changed the workload", async () => {
    const message = await disturbed("evict", ({ world }) => world.editImage("example.org/etcd", "another"));
    expect(message).toMatch(/^(StatefulSet db has the template|db-\d came back on revision) .* run the update again$/);
  });

  test("because nobody can take over from the leader", async () => {
    const scenario = await settled(plain);
    const { raft } = scenario.world;
    for (const member of raft.members) member.isLearner = member !== raft.leader;
    raft.changed();
    const message = await fails(scenario, (ports) => carryOut(ports, request(other), plain));
    expect(message).toMatch(/db-\d leads, and no other ready voter can take over/);
  });
});

test("trust is widened to the same CAs twice: the second time nothing happens", async () => {
  const scenario = await settled();
  const { steps, caBundle, settled: ca } = await scenario.faults.run((ports) => widenTrust(ports, request(tls)));
  expect(steps).toEqual(["ask Issuer ca-a for its CA"]);
  expect(caBundle).toBe(ca);
});

test("a template whose annotations somebody removed is set again; the pods are what was asked for", async () => {
  const scenario = await settled(plain);
  const { template } = scenario.world.workload!.object.spec;
  const bare = { ...template, metadata: { ...template.metadata, annotations: {} } };
  const object = renderWorkload(plain, { stage: PLAIN }, { owner: OWNER });
  scenario.world.applyWorkload({ ...object, spec: { ...(object.spec as object), template: bare } });
  scenario.world.timeline.advance(5000);
  const { plan } = await scenario.faults.run((ports) => previewRollout(ports, request(plain), plain));
  expect(plan).toEqual(["pass 1/1: set the member template to plain"]);
});
