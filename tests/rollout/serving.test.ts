import { Scenario, tlsSpec } from "./world";

const SERVED = "wait until every member serves its new certificates";
const issuer = (name: string) => ({ issuerRef: { name, kind: "Issuer" } });

test.each<[string, Record<string, unknown>]>([
  ["rotated", { ...issuer("ca-a"), rotate: "now" }],
  ["of another issuer", issuer("ca-b")],
])("members that end at TLS 1.2 are asked with a certificate whether theirs are %s", async (_, tls) => {
  const extraArgs = { "tls-max-version": "TLS1.2" };
  const scenario = new Scenario(tlsSpec(3, { extraArgs }));
  await scenario.until(tlsSpec(3, { extraArgs }));
  const { planned, recorded } = await scenario.once(tlsSpec(3, { extraArgs, tls }));
  expect(recorded).toEqual(planned);
  expect(recorded).toContain(SERVED);
  scenario.verify();
});
