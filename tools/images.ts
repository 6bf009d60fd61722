import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { hash } from "./cache.ts";
import { binary, goTool, goToolFolder } from "./go-tools.ts";
import { type TarEntry, tar } from "./tar.ts";

/** A container image of static binaries. */
export interface Image {
  name: string;
  /** Changes when the image does. */
  key: string;
  entries: () => TarEntry[];
  config: { Cmd?: string[]; Entrypoint?: string[]; ExposedPorts?: Record<string, object>; WorkingDir?: string };
}

/** The images that the cluster is given, since it pulls none. */
export function images(): Image[] {
  return [pause(), etcd(), ...olderEtcds().map(({ tool, version }) => olderEtcd(tool, version))];
}

/** The older releases of etcd that have been built, for the tests. */
export function olderEtcds(): { tool: string; version: string }[] {
  return ["etcd-3.6", "etcd-3.5"]
    .filter((tool) => existsSync(goToolFolder(goTool(tool))))
    .map((tool) => ({ tool, version: etcdVersion(tool) }));
}

function olderEtcd(tool: string, version: string): Image {
  const { config, entries } = etcd();
  const own = () => [
    ...entries().filter(({ path }) => !path.startsWith("usr/local/bin/")),
    file("usr/local/bin/etcd", binary(tool)),
  ];
  return { name: `localhost/etcd:${version}`, key: keyOf(tool), entries: own, config };
}

function pause(): Image {
  return {
    name: "localhost/pause:1",
    key: keyOf("cluster"),
    entries: () => [file("pause", binary("pause"))],
    config: { Entrypoint: ["/pause"] },
  };
}

/** Laid out like the image that the etcd project publishes. */
function etcd(): Image {
  return {
    name: `localhost/etcd:${etcdVersion()}`,
    key: keyOf("etcd"),
    entries: () => [
      folder("tmp", 0o1777),
      folder("usr"),
      folder("usr/local"),
      folder("usr/local/bin"),
      folder("var"),
      folder("var/etcd"),
      folder("var/lib"),
      folder("var/lib/etcd", 0o700),
      file("usr/local/bin/etcd", binary("etcd")),
      file("usr/local/bin/etcdctl", binary("etcdctl")),
    ],
    config: { Cmd: ["/usr/local/bin/etcd"], ExposedPorts: { "2379/tcp": {}, "2380/tcp": {} } },
  };
}

/** The version of etcd that the tools are built from. */
export function etcdVersion(tool = "etcd"): string {
  const module = readFileSync(join(import.meta.dirname, "modules", tool, "go.mod"), "utf8");
  const version = module.match(/^\s*(?:require )?go\.etcd\.io\/etcd\/server\/v3 (v\S+)/m)?.[1];
  if (!version) throw new Error(`tools/modules/${tool}/go.mod does not require go.etcd.io/etcd/server/v3`);
  return version;
}

/** The archive that containerd imports: an OCI image layout. */
export function archive(image: Image): Buffer {
  const blobs: TarEntry[] = [];
  const store = (mediaType: string, content: Buffer) => {
    const digest = createHash("sha256").update(content).digest("hex");
    blobs.push({ path: `blobs/sha256/${digest}`, content });
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const layer = store("application/vnd.oci.image.layer.v1.tar", tar(image.entries()));
  const config = store("application/vnd.oci.image.config.v1+json", json(imageConfig(image, layer.digest)));
  const manifest = store(
    "application/vnd.oci.image.manifest.v1+json",
    json({ schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config, layers: [layer] }),
  );
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifest, annotations: { "io.containerd.image.name": image.name } }],
  };
  return tar([
    { path: "oci-layout", content: json({ imageLayoutVersion: "1.0.0" }) },
    { path: "index.json", content: json(index) },
    ...blobs,
  ]);
}

function imageConfig(image: Image, layerDigest: string): object {
  return {
    architecture: arch() === "arm64" ? "arm64" : "amd64",
    os: "linux",
    config: { Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"], ...image.config },
    rootfs: { type: "layers", diff_ids: [layerDigest] },
  };
}

function keyOf(tool: string): string {
  return hash(goToolFolder(goTool(tool)), readFileSync(import.meta.filename));
}

function file(path: string, from: string): TarEntry {
  return { path, mode: 0o755, content: readFileSync(from) };
}

function folder(path: string, mode = 0o755): TarEntry {
  return { path, mode };
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
