import "./world/quick";
import { search } from "./world";

test("every move from one source of certificates to another under faults", async () => {
  await search("walk-faults-moves", [
    "issuer to own-ca",
    "own-ca to issuer",
    "issuer to secrets",
    "secrets to issuer",
    "own-ca to secrets",
    "secrets to own-ca",
  ]);
}, 3_600_000);
