import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import type { ReportPort, StepReport } from "../../rollout";

/** The Pulumi CLI starts the provider process with the address of its engine as the first argument. */
const ENGINE_ADDRESS = /^(\d{1,3}\.){3}\d{1,3}:\d+$/;

let client: EngineClient | undefined;

function engine(): EngineClient | undefined {
  const address = process.argv[2];
  if (!client && address && ENGINE_ADDRESS.test(address)) {
    client = new EngineClient(address, credentials.createInsecure());
  }
  return client;
}

/** Tells the user about steps, in the resource's own row and in the log; silent where there is no Pulumi engine. */
export class EngineReport implements ReportPort {
  constructor(private readonly urn: string) {}

  step({ step, detail }: StepReport): void {
    const request = new LogRequest();
    request.setSeverity(LogSeverity.INFO);
    request.setMessage(detail ? `${step}: ${detail}` : step);
    request.setUrn(this.urn);
    // A line that gets lost costs a line, never the update.
    engine()?.log(request, () => undefined);
  }
}
