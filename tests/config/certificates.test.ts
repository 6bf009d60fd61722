import fc from "fast-check";
import { memberHost, ownCertificates, parseSpec } from "../../config";
import { hoursOf } from "../../config/own-ca";
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
          if (spec.tls?.secrets || (alias !== "server" && alias !== "peer")) continue;
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
        const { spec, all } = certificates(raw);
        const made = ownCertificates(spec.tls);
        expect(new Set(made.map(({ secretName }) => secretName)).size).toBe(made.length);
        for (const { alias, commonName, usages } of all) {
          expect(Buffer.byteLength(commonName)).toBeLessThanOrEqual(64);
          if (spec.tls?.secrets) continue;
          expect(usages).toContain("client auth");
          if (alias === "server" || alias === "peer") expect(usages).toContain("server auth");
        }
      }),
    );
  });

  test("name an issuer only where cert-manager makes them, and last within their CA's time where that is our own", () => {
    fc.assert(
      fc.property(rawConfig, (raw) => {
        const { spec, all } = certificates(raw);
        const hours = (duration: string | undefined) => hoursOf(duration ?? "0h");
        for (const { issuerRef: ref, duration, renewBefore, secretName } of all) {
          expect(ref !== undefined).toBe(spec.tls?.issuerRef !== undefined);
          if (!spec.tls?.ca) continue;
          expect(hours(renewBefore)).toBeLessThan(hours(duration));
          expect(hours(duration)).toBeLessThanOrEqual(hours(spec.tls.ca.duration));
          expect(secretName).toMatch(/-own-cert$/);
        }
      }),
    );
  });

  test("are one for server and client where that is asked for", () => {
    const { all } = certificates({ tls: { ca: {}, certificates: [{ alias: "client", sameAs: "server" }] } });
    const [server, , client] = all;
    expect(client).toEqual({ ...server, alias: "client", sameAs: "server" });
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
