import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Throws what OpenSSL has against a certificate under a CA. */
export function verifyByOpenssl(folder: string, leaf: string, ca: string): void {
  const [leafFile, caFile] = [join(folder, "leaf.pem"), join(folder, "ca.pem")];
  writeFileSync(leafFile, leaf);
  writeFileSync(caFile, ca);
  execFileSync("openssl", ["verify", "-x509_strict", "-CAfile", caFile, leafFile], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}
