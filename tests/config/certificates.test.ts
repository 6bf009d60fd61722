import fc from "fast-check";
import { memberHost, parseSpec } from "../../config";
import { rawConfig } from "./arbitraries";

const issuerRef = { name: "ca" };

describe("certificates of every accepted config", () => {
  const certificates = (raw: Record<string, unknown>) => {
    const { spec } = parseSpec(raw);
    return { spec, all: spec.tls?.certificates ?? [] };
  };

  test("name every member, each name once", () => {
    fc.assert(
      fc.property(rawConfig, (raw) => {
        const { spec, all } = certificates(raw);
        for (const { alias, dnsNames, ipAddresses, uris, emailAddresses } of all) {
          for (const names of [dnsNames, ipAddresses, uris, emailAddresses])
            expect(new Set(names).size).toBe(names.length);
          if (alias !== "server" && alias !== "peer") continue;
          for (let i = 0; i < spec.replicas; i++) expect(dnsNames).toContain(memberHost(spec, i));
          expect(dnsNames).toContain(`*.${spec.name}-pods.${spec.namespace}.svc.${spec.clusterDomain}`);
          expect(ipAddresses).toEqual(expect.arrayContaining(["127.0.0.1", "::1"]));
        }
      }),
    );
  });

  test("have a common name of 64 bytes at most, the usages etcd needs, and a Secret of their own", () => {
    fc.assert(
      fc.property(rawConfig, (raw) => {
        const { all } = certificates(raw);
        expect(new Set(all.map(({ secretName }) => secretName)).size).toBe(all.length);
        for (const { alias, commonName, usages } of all) {
          expect(Buffer.byteLength(commonName)).toBeLessThanOrEqual(64);
          expect(usages).toContain("client auth");
          if (alias === "server" || alias === "peer") expect(usages).toContain("server auth");
        }
      }),
    );
  });

  test("leave room for the longest name", () => {
    const { all } = certificates({ name: "a".repeat(52), tls: { issuerRef } });
    for (const { commonName } of all) expect(commonName.length).toBeLessThanOrEqual(64);
  });

  test("are plain JSON", () => {
    fc.assert(
      fc.property(rawConfig, (raw) => {
        const { spec } = parseSpec(raw);
        expect(JSON.parse(JSON.stringify(spec))).toStrictEqual(spec);
      }),
    );
  });
});
