/** Something that must not be found. */
export interface SecretValue {
  /** Says in a finding what was found, such as `Secret db/etcd-server-cert tls.key`. */
  name: string;
  bytes: Buffer;
}

export interface Finding {
  secret: string;
  /** How it was written there, such as `base64`. */
  form: string;
}

interface Needle {
  form: string;
  text: string;
}

/** Below this length a value is found by chance. */
const SHORTEST = 12;

/** Where secrets appear in a text: as they are, in JSON, in hexadecimal, or within base64 of something larger. */
export function findSecrets(text: string, secrets: SecretValue[]): Finding[] {
  return secrets.flatMap((secret) => {
    const hit = units(secret.bytes)
      .flatMap(needles)
      .find((needle) => text.includes(needle.text));
    return hit ? [{ secret: secret.name, form: hit.form }] : [];
  });
}

/** The value in whole, and what is inside a PEM block line by line: line ends don't survive every encoding. */
function units(bytes: Buffer): Buffer[] {
  const text = bytes.toString("latin1");
  const body = text.includes("-----BEGIN ")
    ? text.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/=]{32,}$/.test(line))
    : [];
  return [bytes, ...body.map((line) => Buffer.from(line, "latin1"))].filter((unit) => unit.length >= SHORTEST);
}

function needles(unit: Buffer): Needle[] {
  const raw = unit.toString("utf8");
  const encoded = [0, 1, 2].map((shift) => base64At(unit, shift));
  return [
    { form: "raw", text: raw },
    { form: "JSON", text: JSON.stringify(raw).slice(1, -1) },
    { form: "hexadecimal", text: unit.toString("hex") },
    ...encoded.map((text) => ({ form: "base64", text })),
    ...encoded.map((text) => ({ form: "base64url", text: text.replaceAll("+", "-").replaceAll("/", "_") })),
  ];
}

/** The characters that the bytes become wherever they begin at such a place within a group of three. */
function base64At(unit: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), unit])
    .toString("base64")
    .replace(/=+$/, "");
  const end = (shift + unit.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(shift === 0 ? 0 : shift + 1, end);
}

/** What is secret in a Kubernetes Secret: everything but certificates. */
export function secretsOfObject(object: {
  metadata: { name: string; namespace?: string };
  data?: unknown;
}): SecretValue[] {
  const data = (object.data ?? {}) as Record<string, string>;
  return Object.entries(data)
    .filter(([key]) => key !== "tls.crt" && key !== "ca.crt")
    .map(([key, value]) => ({
      name: `Secret ${object.metadata.namespace}/${object.metadata.name} ${key}`,
      bytes: Buffer.from(value, "base64"),
    }));
}

const KUBECONFIG_FIELD =
  /^\s*"?(client-key-data|client-certificate-data|certificate-authority-data|token|password)"?:\s*"?([^"\s,]+)"?/gm;

/** Keys, tokens and certificates in a kubeconfig, both as they are written there and decoded. */
export function secretsOfKubeconfig(text: string): SecretValue[] {
  return [...text.matchAll(KUBECONFIG_FIELD)].flatMap(([, field = "", value = ""]) => [
    { name: `kubeconfig ${field}`, bytes: Buffer.from(value) },
    ...(field.endsWith("-data") ? [{ name: `kubeconfig ${field}`, bytes: Buffer.from(value, "base64") }] : []),
  ]);
}
