import { trustBundleName } from "../config/names";
import type { Alias } from "../config/types";
import { asksClients } from "./flags";
import { PEER_PATH, SERVER_PATH, TRUST_PATH, VOLUME_PATH } from "./paths";
import { memberBundleKey } from "./trust";
import { TRUST_BUNDLE_KEY } from "./trust-bundle";
import type { MemberSpec, MemberTemplate } from "./types";

/** Name of the volume claim template. */
export const DATA_VOLUME = "data";

/** 0440: for the group that `fsGroup` gives the files to, and for nobody else. */
const KEY_MODE = 0o440;
const TRUST_MODE = 0o444;

interface Mount {
  volume: Record<string, unknown> & { name: string };
  mountPath: string;
}

/** TLS material of the planes that have any on this stage. The client's key is not a member's business. */
function tlsMounts(spec: MemberSpec, { stage, trustRevision }: MemberTemplate): Mount[] {
  const server = stage.client === "plain" ? [] : [secretMount(spec, "server", SERVER_PATH)];
  const peer = stage.peer === "plain" ? [] : [secretMount(spec, "peer", PEER_PATH)];
  const trusts = stage.peer !== "plain" || (stage.client !== "plain" && asksClients(spec));
  return [...server, ...peer, ...(trusts ? [trustMount(spec, trustRevision)] : [])];
}

function secretMount(spec: MemberSpec, alias: Alias, mountPath: string): Mount {
  const secretName = spec.tls?.certificates.find((certificate) => certificate.alias === alias)?.secretName;
  if (!secretName) throw new Error(`a stage with TLS needs a spec with a ${alias} certificate: ${spec.name} has none`);
  return { volume: { name: `tls-${alias}`, secret: { secretName, defaultMode: KEY_MODE } }, mountPath };
}

function trustMount(spec: MemberSpec, revision: string | undefined): Mount {
  const key = revision === undefined ? TRUST_BUNDLE_KEY : memberBundleKey(revision);
  const items = [{ key, path: TRUST_BUNDLE_KEY }];
  const configMap = { name: trustBundleName(spec), defaultMode: TRUST_MODE, items };
  return { volume: { name: "tls-ca", configMap }, mountPath: TRUST_PATH };
}

/** Undefined on a stage without TLS: the data's volume comes from the claim template. */
export function volumes(spec: MemberSpec, template: MemberTemplate) {
  const mounts = tlsMounts(spec, template);
  return mounts.length === 0 ? undefined : mounts.map(({ volume }) => volume);
}

export function volumeMounts(spec: MemberSpec, template: MemberTemplate) {
  const tls = tlsMounts(spec, template).map(({ volume, mountPath }) => ({
    name: volume.name,
    mountPath,
    readOnly: true,
  }));
  return [{ name: DATA_VOLUME, mountPath: VOLUME_PATH }, ...tls];
}

/** The members' volumes. They outlive the workload. */
export function volumeClaimTemplates(spec: MemberSpec, labels: Record<string, string>) {
  return [
    {
      metadata: { name: DATA_VOLUME, labels },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: spec.storage.size } },
        storageClassName: spec.storage.className,
      },
    },
  ];
}
