import { certificatesOf, chainsTo } from "../../rollout/x509";
import { Authority } from "./world/pki";

const root = Authority.root("root");
const other = Authority.root("other");
const intermediate = root.intermediate("intermediate");
const leaf = root.issue("leaf");
const below = intermediate.issue("leaf");

test("certificates are read in their order, and other text is passed over", () => {
  const pem = `# comment\n${root.certificate}junk\n${leaf.key}${other.certificate}`;
  expect(certificatesOf(pem).map(({ subject }) => subject)).toEqual(["CN=root", "CN=other"]);
  expect(certificatesOf("")).toEqual([]);
});

test.each<[string, string, string, boolean]>([
  ["its CA", leaf.certificate, root.certificate, true],
  ["one of several CAs", leaf.certificate, other.certificate + root.certificate, true],
  ["another CA", leaf.certificate, other.certificate, false],
  ["a CA of the same name with another key", leaf.certificate, Authority.root("root").certificate, false],
  ["nothing", leaf.certificate, "", false],
  [
    "the root, over an intermediate that comes with it",
    below.certificate + intermediate.certificate,
    root.certificate,
    true,
  ],
  ["the root, without the intermediate", below.certificate, root.certificate, false],
  ["an intermediate that is trusted itself", below.certificate, intermediate.certificate, true],
  ["itself, where it is trusted", leaf.certificate, leaf.certificate, true],
  ["a root that it brings along, but nobody trusts", leaf.certificate + root.certificate, other.certificate, false],
])("a chain to %s", (_, chain, bundle, expected) => {
  expect(chainsTo(chain, bundle)).toBe(expected);
});

test("nothing chains to nothing", () => {
  expect(chainsTo("", root.certificate)).toBe(false);
});
