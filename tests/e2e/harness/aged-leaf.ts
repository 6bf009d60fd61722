import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALIASES, decoded, readSecret } from "./certificates";
import { CLUSTER, type Scenario } from "./scenario";

/** When a leaf is valid, as days from now. */
export interface Validity {
  fromDays: number;
  toDays: number;
}

/**
 * Puts leaves of another validity in the place of those that the cluster has: the same keys and names, signed by the
 * same CA. cert-manager would mend some of that at once, so it had better stand still.
 */
export async function ageLeaves(scenario: Scenario, issuer: string, validity: Validity): Promise<void> {
  const { kube, namespace, folder } = scenario;
  const ca = await kube.get("v1", "Secret", issuer, namespace);
  for (const alias of ALIASES) {
    const secret = await readSecret(scenario, alias);
    if (!secret || !ca) throw new Error(`there is no certificate ${alias}, or no CA`);
    const own = join(folder, "aged", `${alias}${validity.fromDays}`);
    const pem = sign(own, decoded(ca.data as Record<string, string>), secret, validity);
    const data = { "tls.crt": Buffer.from(pem).toString("base64") };
    await kube.edit("v1", "Secret", `${CLUSTER}-${alias}-cert`, namespace, { data });
  }
}

type Material = Record<string, string>;

function sign(folder: string, ca: Material, leaf: Material, { fromDays, toDays }: Validity): string {
  mkdirSync(folder, { recursive: true });
  const file = (name: string, content = "") => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const files = { cert: file("ca.crt", ca["tls.crt"]), key: file("ca.key", ca["tls.key"]) };
  const [leafKey, old, out] = [file("leaf.key", leaf["tls.key"]), file("old.crt", leaf["tls.crt"]), file("new.crt")];
  const request = join(folder, "leaf.csr");
  openssl("x509", "-x509toreq", "-in", old, "-signkey", leafKey, "-copy_extensions", "copyall", "-out", request);
  file("index.txt");
  const config = file(
    "ca.cnf",
    [
      "[ca]\ndefault_ca = own",
      `[own]\ndatabase = ${join(folder, "index.txt")}\nnew_certs_dir = ${folder}\ndefault_md = sha256`,
      "policy = any\ncopy_extensions = copyall\nrand_serial = yes\nunique_subject = no",
      "[any]\ncommonName = optional\n",
    ].join("\n"),
  );
  const dates = ["-startdate", stamp(fromDays), "-enddate", stamp(toDays)];
  openssl(
    "ca",
    "-batch",
    "-notext",
    "-config",
    config,
    "-cert",
    files.cert,
    "-keyfile",
    files.key,
    ...dates,
    "-in",
    request,
    "-out",
    out,
  );
  return readFileSync(out, "utf8");
}

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** As ASN.1's GeneralizedTime has it. */
function stamp(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+|[-:T]/g, "");
}
