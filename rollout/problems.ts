import { describeProblem } from "../config";
import type { ConfigProblem } from "../config/types";

/** The update, or its preview, is refused; nothing was changed. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(readonly problems: ConfigProblem[]) {
    super(problems.map(describeProblem).join("\n"));
  }
}
