import { parseSpec } from "../../config";
import { inOneLine } from "../../rollout/bundle";
import { subjectOf } from "../../rollout/source-cas";

const subject = {
  countries: ["US"],
  organizations: ["Kubernetes"],
  organizationalUnits: ["CA"],
  localities: ["Portland"],
  provinces: ["Oregon"],
  streetAddresses: ["Main St"],
  postalCodes: ["97201"],
  serialNumber: "7",
};

/** A plan names the CA before it exists, and records it afterwards: whoever made it, in whatever order. */
test("a subject reads the same whatever the order of its parts", () => {
  const { spec } = parseSpec({ tls: { ca: { commonName: "Kubernetes", subject } } });
  const wanted =
    "C=US, ST=Oregon, L=Portland, street=Main St, postalCode=97201, O=Kubernetes, OU=CA, CN=Kubernetes, serialNumber=7";
  expect(subjectOf(spec.tls!.ca!)).toBe(wanted);
  expect(inOneLine(wanted.split(", ").reverse().join("\n"))).toBe(wanted);
});

test("what RFC 2253 escapes reads as it was written", () => {
  expect(inOneLine(`${String.raw`O=Example\, Inc.`}\nCN=x`)).toBe("O=Example, Inc., CN=x");
});

test("parts that nobody expects come last", () => {
  expect(inOneLine("emailAddress=a@example.org\nCN=x")).toBe("CN=x, emailAddress=a@example.org");
});
