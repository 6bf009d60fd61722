import "./world/quick";
import { type Move, search } from "./world";

test("every move from one source of certificates to another under faults", async () => {
  const moves: Move[] = [
    "issuer to own-ca",
    "own-ca to issuer",
    "issuer to secrets",
    "secrets to issuer",
    "own-ca to secrets",
    "secrets to own-ca",
  ];
  await search("walk-faults-moves", moves, true);
}, 3_600_000);
