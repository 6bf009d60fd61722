import { skipReason } from "./environment";
import { publishReport } from "./report";

export default function tearDown(): void {
  if (skipReason() === undefined) publishReport();
}
