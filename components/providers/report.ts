import { credentials, Metadata } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import type { ReportPort, StepReport } from "../../rollout";
import { engineAddress } from "./engine-connection";

let client: EngineClient | undefined;

function engine(): EngineClient | undefined {
  const address = engineAddress();
  if (!client && address) client = new EngineClient(address, credentials.createInsecure());
  return client;
}

/** Lines go out one after the other: the engine prints them in the order in which they arrive. */
let queue: Promise<unknown> = Promise.resolve();

/** Tells the user about steps, in the resource's own row and in the log; silent where there is no Pulumi engine. */
export class EngineReport implements ReportPort {
  constructor(private readonly urn: string) {}

  step({ step, detail }: StepReport): void {
    this.log(detail ? `${step}: ${detail}` : step);
  }

  /** All of a plan at once, so that nothing gets between its lines. */
  plan(lines: string[]): void {
    if (lines.length > 0) this.log(lines.join("\n"));
  }

  /** In the resource's row alone, until the next line. */
  progress(line: string): void {
    this.log(line, true);
  }

  private log(message: string, ephemeral = false): void {
    const request = new LogRequest();
    request.setSeverity(LogSeverity.INFO);
    request.setEphemeral(ephemeral);
    request.setMessage(message);
    request.setUrn(this.urn);
    queue = queue.then(() => send(request));
  }
}

/** A line that gets lost costs a line, never the update. */
function send(request: LogRequest): Promise<void> {
  return new Promise((resolve) => {
    const client = engine();
    if (!client) return resolve();
    client.log(request, new Metadata(), { deadline: Date.now() + 5000 }, () => resolve());
  });
}
