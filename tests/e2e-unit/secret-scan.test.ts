import { generateKeyPairSync, randomBytes } from "node:crypto";
import { findSecrets, type SecretValue, secretsOfKubeconfig, secretsOfObject } from "../e2e/harness/secret-scan";

const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const key: SecretValue = { name: "key", bytes: Buffer.from(pem) };
const token: SecretValue = { name: "token", bytes: Buffer.from(randomBytes(24).toString("base64url")) };
const text = token.bytes.toString();

const encode = (before: string) => Buffer.from(`${before}${text}, and more`).toString("base64");

const LEAKS: [string, string, SecretValue][] = [
  ["a token as it is", `{"a":"${text}"}`, token],
  ["a token in base64", token.bytes.toString("base64"), token],
  ["a token in base64, one byte in", encode("x"), token],
  ["a token in base64, two bytes in", encode("xy"), token],
  ["a token in base64url", Buffer.from(`xyz${text}`).toString("base64url"), token],
  ["a token in hexadecimal", token.bytes.toString("hex"), token],
  ["a key as it is", String(pem), key],
  ["a key in JSON", JSON.stringify({ key: pem }), key],
  ["a key in JSON within JSON", JSON.stringify(JSON.stringify({ key: pem })), key],
  ["a key in base64", Buffer.from(pem).toString("base64"), key],
  ["a key in base64 within a kubeconfig", Buffer.from(`users: [${pem}]`).toString("base64"), key],
  ["a key with other line ends", String(pem).replaceAll("\n", "\r\n"), key],
  ["a line of a key", String(pem).split("\n")[1]!, key],
];

test.each(LEAKS)("finds %s", (_, leak, secret) => {
  expect(findSecrets(`{"deployment":"${leak}"}`, [secret])).toEqual([
    { secret: secret.name, form: expect.any(String) as string },
  ]);
});

test("finds nothing where nothing is", () => {
  const state = JSON.stringify({
    certificate: "-----BEGIN CERTIFICATE-----",
    digest: randomBytes(200).toString("base64"),
  });
  expect(findSecrets(state, [key, token])).toEqual([]);
});

test("what is short is not looked for, because it would be found by chance", () => {
  expect(findSecrets("true", [{ name: "flag", bytes: Buffer.from("true") }])).toEqual([]);
});

test("of a Secret, certificates are no secret", () => {
  const data = Object.fromEntries(
    ["tls.crt", "tls.key", "ca.crt"].map((name) => [name, Buffer.from(name).toString("base64")]),
  );
  expect(secretsOfObject({ metadata: { namespace: "db", name: "leaf" }, data })).toEqual([
    { name: "Secret db/leaf tls.key", bytes: Buffer.from("tls.key") },
  ]);
});

test("of a kubeconfig, keys and tokens are found as written and decoded, in YAML and in JSON", () => {
  const encoded = Buffer.from(pem).toString("base64");
  for (const config of [
    `    client-key-data: ${encoded}\n    token: ${text}\n`,
    `{\n"client-key-data":"${encoded}",\n"token": "${text}"}`,
  ]) {
    const secrets = secretsOfKubeconfig(config);
    expect(secrets.map((secret) => secret.bytes.toString())).toEqual([encoded, String(pem), text]);
  }
});
