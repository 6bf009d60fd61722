import { skipReason } from "./environment";
import { publishFaults } from "./fault-report";
import { publishReport } from "./report";

export default function tearDown(): void {
  if (skipReason() !== undefined) return;
  publishReport();
  publishFaults();
}
