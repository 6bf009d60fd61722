import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Leaf {
  certificate: string;
  key: string;
  certificateFile: string;
  keyFile: string;
}

/** A certificate authority in a temporary folder, made by openssl. */
export class TestAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), "etcd-tls-"));
  readonly caFile = join(this.#folder, "ca.crt");
  readonly ca: string;

  constructor(name: string) {
    this.#openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      "ca.key",
      "-out",
      "ca.crt",
    );
    this.ca = readFileSync(this.caFile, "utf8");
  }

  issue(name: string, subjectAltNames: string[]): Leaf {
    const file = (extension: string) => join(this.#folder, `${name}.${extension}`);
    const extensions = ["extendedKeyUsage=serverAuth,clientAuth"];
    if (subjectAltNames.length > 0) extensions.push(`subjectAltName=${subjectAltNames.join(",")}`);
    writeFileSync(file("ext"), extensions.join("\n"));
    this.#openssl(
      "req",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      file("key"),
      "-out",
      file("csr"),
    );
    this.#openssl(
      "x509",
      "-req",
      "-in",
      file("csr"),
      "-CA",
      "ca.crt",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-days",
      "1",
      "-extfile",
      file("ext"),
      "-out",
      file("crt"),
    );
    return {
      certificate: readFileSync(file("crt"), "utf8"),
      key: readFileSync(file("key"), "utf8"),
      certificateFile: file("crt"),
      keyFile: file("key"),
    };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { cwd: this.#folder, stdio: "pipe" });
  }
}
