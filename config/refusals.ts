import { isCertificateChange, isProtocolChange, isRotation } from "./changes";
import { configPath } from "./problems";
import { understandEachOther } from "./protocol";
import { certificateSource, ownCertificates } from "./source";
import type { CertificateSource, ConfigProblem, EtcdSpec, FieldChange } from "./types";
import { jumpProblem, minorOf } from "./versions";

const REPLACES = "is fixed once the cluster runs, because changing it replaces the workload and stops every member";

/** Fields of the spec that a running cluster keeps, why, and what they are called in the stack config. */
const FIXED: { field: RegExp; rule: string; key?: string; way?: string }[] = [
  { field: /^(name|namespace|workload\.kind)$/, rule: REPLACES },
  {
    field: /^storage\.size$/,
    rule: REPLACES,
    way: "Where their class allows it, volumes grow by `kubectl edit pvc`, with this key as it was",
  },
  { field: /^storage\.className$/, rule: REPLACES, key: "storage.class" },
  { field: /^replicas$/, rule: "is fixed once the cluster runs: members are neither added nor removed" },
  { field: /^clusterDomain$/, rule: "is fixed once the cluster runs, because the members are registered under it" },
  {
    field: /^hosts\.members(\[.*\](\.(name|address))?)?$/,
    rule: "is fixed once the cluster runs: members are registered under their names and addresses",
  },
  { field: /^hosts\.dataDir$/, key: "dataDir", rule: "is fixed once the cluster runs: the members' data is there" },
  {
    field: /^hosts\.configDir$/,
    key: "configDir",
    rule: "is fixed once the cluster runs: what was done is kept there",
  },
  {
    field: /^hosts\.service$/,
    key: "service",
    rule: "is fixed once the cluster runs: another unit would be a second member",
  },
  { field: /^hosts$/, key: "hosts", rule: "is fixed: a cluster stays where it is, in Kubernetes or on its hosts" },
];

/** What cannot be done to a running cluster, or not in one update. */
export function refusals(old: EtcdSpec, next: EtcdSpec, changes: FieldChange[]): ConfigProblem[] {
  return [
    ...changes.flatMap(fixedField),
    ...namespaceDropped(old, next),
    ...versionJump(old, next),
    ...versionWithTls(old, next, changes),
    ...rotationWithoutTls(old, next),
    ...twoAtOnce(old, next, changes),
    ...noCommonProtocol(old, next),
    ...keptKeys(old, next),
    ...keptSecrets(old, next),
  ];
}

function fixedField(change: FieldChange): ConfigProblem[] {
  const fixed = FIXED.find(({ field }) => field.test(change.path));
  if (!fixed) return [];
  const mend = change.old === undefined ? "Leave it out again" : `Set it back to ${JSON.stringify(change.old)}`;
  const path = `etcd:${(fixed.key ?? change.path).replace(/^hosts\.members/, "hosts")}`;
  const further = fixed.way ? `. ${fixed.way}` : "";
  return [
    {
      path,
      value: change.new,
      rule: fixed.rule,
      mend: `${mend}, or make another cluster in a stack of its own${further}`,
    },
  ];
}

function namespaceDropped(old: EtcdSpec, next: EtcdSpec): ConfigProblem[] {
  if (!old.createNamespace || next.createNamespace || old.namespace !== next.namespace) return [];
  return [
    {
      path: configPath(["createNamespace"]),
      value: false,
      rule: "must stay true, because Pulumi would delete the namespace with everything in it",
      mend: "Set it back to true",
    },
  ];
}

/** A first look, at what was asked for last; the walk asks the members themselves. */
function versionJump(old: EtcdSpec, next: EtcdSpec): ConfigProblem[] {
  const problem = jumpProblem(old.version, next.version);
  return problem ? [{ path: configPath(["version"]), value: next.version, ...problem }] : [];
}

/** Half-way, an upgrade and a change of TLS would each have to be undone without the other. */
function versionWithTls(old: EtcdSpec, next: EtcdSpec, changes: FieldChange[]): ConfigProblem[] {
  if (minorOf(old.version) === minorOf(next.version)) return [];
  const other = (old.tls === undefined) !== (next.tls === undefined) ? "tls" : changes.find(isTlsChange)?.path;
  if (other === undefined) return [];
  return [
    {
      path: configPath(["version"]),
      value: next.version,
      rule: "must be changed in an update of its own where it changes the minor release of etcd",
      mend: `Change it in one update and etcd:${other} in another`,
    },
  ];
}

function isTlsChange({ path }: FieldChange): boolean {
  return path.startsWith("tls.");
}

function rotationWithoutTls(old: EtcdSpec, next: EtcdSpec): ConfigProblem[] {
  if (old.tls || next.tls?.rotate === undefined) return [];
  return [
    {
      path: configPath(["tls", "rotate"]),
      value: next.tls.rotate,
      rule: "rotateCertificates requires TLS to already be enabled with issuerRef on Etcd",
      mend: "Leave it out while TLS is added: the certificates are new anyway",
    },
  ];
}

/** Where TLS stays on: rotation, other certificates or CAs, and how it is spoken are an update each. */
function twoAtOnce(old: EtcdSpec, next: EtcdSpec, changes: FieldChange[]): ConfigProblem[] {
  if (!old.tls || !next.tls) return [];
  const reissue = changes.find(isCertificateChange);
  const protocol = changes.find(isProtocolChange);
  const rule = "only one TLS reconfiguration operation is allowed at a time";
  if (isRotation(old, next)) {
    const other = reissue ?? protocol;
    if (!other) return [];
    const mend = `Rotate in one update and change etcd:${other.path} in another`;
    return [{ path: configPath(["tls", "rotate"]), value: next.tls.rotate, rule, mend }];
  }
  if (!reissue || !protocol) return [];
  const mend = `Change it in one update and etcd:${reissue.path} in another`;
  return [{ path: `etcd:${protocol.path}`, value: protocol.new, rule, mend }];
}

/** During a pass members of both specs are peers of each other. */
function noCommonProtocol(old: EtcdSpec, next: EtcdSpec): ConfigProblem[] {
  if (!old.tls || !next.tls || understandEachOther(old, next)) return [];
  return [
    {
      path: configPath(["tls"]),
      rule: "members before and after the change would have no TLS version and cipher suite in common while it is under way",
      mend: "Go there in two updates, over settings that have something in common with both",
    },
  ];
}

/** cert-manager waits for ever where the key must be kept and must be of another kind. */
function keptKeys(old: EtcdSpec, next: EtcdSpec): ConfigProblem[] {
  return (next.tls?.certificates ?? []).flatMap(({ alias, privateKey: key, secretName }) => {
    const before = old.tls?.certificates.find((each) => each.alias === alias);
    if (!before || key.rotationPolicy !== "Never" || before.secretName !== secretName) return [];
    const field = (["algorithm", "size"] as const).find((name) => before.privateKey[name] !== key[name]);
    if (!field) return [];
    return [
      {
        path: `etcd:tls.certificates[${alias}].privateKey.${field}`,
        value: key[field],
        rule: "must stay while rotationPolicy is Never, because the key is kept",
        mend: `Set rotationPolicy to Always, or ${field} back to ${JSON.stringify(before.privateKey[field])}`,
      },
    ];
  });
}

/** Until the update ends, the old source still fills the Secret; then the Secret goes with it. */
function keptSecrets(old: EtcdSpec, next: EtcdSpec): ConfigProblem[] {
  if (!old.tls || !next.tls) return [];
  const [from, to] = [certificateSource(old.tls), certificateSource(next.tls)];
  if (from === to) return [];
  const taken = new Set(old.tls.certificates.map(({ secretName }) => secretName));
  return ownCertificates(next.tls)
    .filter(({ secretName }) => taken.has(secretName))
    .map(({ alias, secretName }) => ({
      path: `etcd:tls.certificates[${alias}].secretName`,
      value: secretName,
      rule: `must change with the source of certificates (etcd:tls.${KEY_OF[from]} before, etcd:tls.${KEY_OF[to]} now): the old one still fills this Secret while members are brought to the new`,
      mend: "Choose another name, or leave the key out",
    }));
}

const KEY_OF: Record<CertificateSource, string> = { issuer: "issuerRef", ca: "ca", secrets: "secrets" };
