import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { bits, boolean, explicit, integer, octets, oid, sequence, time, tlv } from "./der";

/** Subject alternative names, as a cert-manager Certificate lists them. */
export interface Names {
  dnsNames?: string[];
  ipAddresses?: string[];
  uris?: string[];
  emailAddresses?: string[];
}

export interface Leaf {
  certificate: string;
  key: string;
}

export interface IssueOptions {
  names?: Names;
  notBefore?: Date;
  notAfter?: Date;
  /** PEM form of the key. Default: PKCS8. */
  encoding?: "PKCS1" | "PKCS8";
  serial?: number;
  /** Extended key usages; absent: no such extension. */
  usages?: string[];
  /** Makes the issued certificate a CA itself. */
  intermediate?: boolean;
  /** How many CAs may come below it. */
  pathLength?: number;
  /** Leaves the basic constraints out. */
  unconstrained?: boolean;
  /** Absent: no such extension. */
  keyUsage?: "keyCertSign" | "digitalSignature";
  /** Name constraints. */
  permits?: Names;
  excludes?: Names;
  /** A critical extension of this object identifier, in hexadecimal. */
  critical?: string;
}

/** RFC 5280, 4.2.1.12. */
const USAGES: Record<string, string> = {
  serverAuth: "2b06010505070301",
  clientAuth: "2b06010505070302",
  any: "551d2500",
};

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));

/**
 * A certificate authority that lives in memory. Real certificates, because the engine verifies them; not by openssl,
 * because the simulation makes thousands.
 */
export class Authority {
  readonly certificate: string;

  private constructor(
    readonly name: string,
    private readonly keys: { privateKey: KeyObject; publicKey: KeyObject },
    options: IssueOptions,
    issuer?: Authority,
  ) {
    const signer = issuer ?? this;
    this.certificate = signer.sign(name, keys.publicKey, { intermediate: true, ...options });
  }

  static root(name: string, options: IssueOptions = {}): Authority {
    return new Authority(name, newKeys(), options);
  }

  intermediate(name: string, options: IssueOptions = {}): Authority {
    return new Authority(name, newKeys(), options, this);
  }

  /** Another certificate over the same name and key: what a renewal makes that keeps the key. */
  renewed(options: IssueOptions): Authority {
    return new Authority(this.name, this.keys, options);
  }

  issue(commonName: string, options: IssueOptions = {}): Leaf {
    const { privateKey, publicKey } = newKeys();
    return { certificate: this.sign(commonName, publicKey, options), key: pemOf(privateKey, options.encoding) };
  }

  private sign(commonName: string, publicKey: KeyObject, options: IssueOptions): string {
    const { names = {}, serial = 1, intermediate = false, usages } = options;
    const { notBefore = new Date("2020-01-01"), notAfter = new Date("2099-01-01") } = options;
    const toBeSigned = sequence(
      explicit(0, integer(2)),
      integer(serial),
      ECDSA_SHA256,
      distinguishedName(this.name),
      sequence(time(notBefore), time(notAfter)),
      distinguishedName(commonName),
      publicKey.export({ type: "spki", format: "der" }),
      explicit(3, sequence(...extensionsOf({ ...options, names, intermediate, usages }))),
    );
    const signature = sign("sha256", toBeSigned, this.keys.privateKey);
    return pem("CERTIFICATE", sequence(toBeSigned, ECDSA_SHA256, bits(signature)));
  }
}

function newKeys() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** For elliptic curves, what cert-manager calls PKCS1 is SEC1. */
function pemOf(privateKey: KeyObject, encoding: "PKCS1" | "PKCS8" = "PKCS8"): string {
  return privateKey.export({ type: encoding === "PKCS1" ? "sec1" : "pkcs8", format: "pem" }).toString();
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(oid("550403"), tlv(0x0c, Buffer.from(commonName)))));
}

function extensionsOf(options: IssueOptions): Buffer[] {
  const { names = {}, intermediate = false, pathLength, unconstrained, usages, keyUsage, critical } = options;
  return [
    ...(unconstrained ? [] : [basicConstraints(intermediate, pathLength)]),
    ...(keyUsage ? [extension("551d0f", tlv(0x03, KEY_USAGE[keyUsage]))] : []),
    ...subjectAltName(names),
    ...extendedKeyUsage(usages),
    ...nameConstraints(options),
    ...(critical ? [extension(critical, sequence())] : []),
  ];
}

/** RFC 5280, 4.2.1.3: the number of unused bits, and the bits. */
const KEY_USAGE = { digitalSignature: Buffer.from([7, 0x80]), keyCertSign: Buffer.from([2, 0x04]) };

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), boolean(true), octets(value));
}

function basicConstraints(ca: boolean, pathLength?: number): Buffer {
  const length = pathLength === undefined ? [] : [integer(pathLength)];
  return extension("551d13", sequence(...(ca ? [boolean(true)] : []), ...length));
}

function nameConstraints({ permits, excludes }: IssueOptions): Buffer[] {
  if (!permits && !excludes) return [];
  const subtrees = (n: number, names: Names | undefined) =>
    names ? [explicit(n, Buffer.concat(generalNames(names).map((name) => sequence(name))))] : [];
  return [extension("551d1e", sequence(...subtrees(0, permits), ...subtrees(1, excludes)))];
}

function extendedKeyUsage(usages: string[] | undefined): Buffer[] {
  const purposes = usages?.map((usage) => oid(USAGES[usage]!));
  return purposes ? [sequence(oid("551d25"), octets(sequence(...purposes)))] : [];
}

function subjectAltName(asked: Names): Buffer[] {
  const names = generalNames(asked);
  return names.length === 0 ? [] : [sequence(oid("551d11"), octets(sequence(...names)))];
}

function generalNames({ dnsNames = [], ipAddresses = [], uris = [], emailAddresses = [] }: Names): Buffer[] {
  const text = (tag: number) => (value: string) => tlv(tag, Buffer.from(value));
  return [
    ...dnsNames.map(text(0x82)),
    // A constraint is an address and a mask: `10.0.0.0/255.0.0.0`.
    ...ipAddresses.map((ip) => tlv(0x87, ...ip.split("/").map(ipBytes))),
    ...uris.map(text(0x86)),
    ...emailAddresses.map(text(0x81)),
  ];
}

function ipBytes(ip: string): Buffer {
  if (!ip.includes(":")) return Buffer.from(ip.split(".").map(Number));
  const [head = "", tail] = ip.split("::");
  const groups = (part: string | undefined) => (part ? part.split(":") : []);
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

function pem(label: string, der: Buffer): string {
  const lines = der
    .toString("base64")
    .match(/.{1,64}/g)!
    .join("\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
