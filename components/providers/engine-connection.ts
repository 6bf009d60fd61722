import { createConnection } from "node:net";

/** The Pulumi CLI starts the provider process with the address of its engine as the first argument. */
const ADDRESS = /^(\d{1,3}(?:\.\d{1,3}){3}):(\d+)$/;

const CHECK_INTERVAL_MS = 1000;
/** Looks in a row that must fail: one may fail on a busy machine. */
const LOST_AFTER = 3;

/** Address of the Pulumi engine that started this process; absent where none did, as in tests. */
export function engineAddress(): string | undefined {
  const address = process.argv[2];
  return address && ADDRESS.test(address) ? address : undefined;
}

let watching = false;

/**
 * Ends this process when the CLI that started it is gone. A killed CLI leaves its providers behind, and one of them
 * walking on beside the next update would be a second hand on the same members. What was begun is resumed by the next
 * update; a CLI that is merely interrupted stays until the running step is done.
 */
export function endWithEngine(end: () => void = () => process.exit(1)): void {
  const [, host, port] = ADDRESS.exec(process.argv[2] ?? "") ?? [];
  if (watching || !host) return;
  watching = true;
  let failures = 0;
  const look = async () => {
    failures = (await answers(host, Number(port))) ? 0 : failures + 1;
    if (failures < LOST_AFTER) return;
    clearInterval(timer);
    end();
  };
  // Must not keep the process alive by itself.
  const timer = setInterval(look, CHECK_INTERVAL_MS);
  timer.unref();
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: CHECK_INTERVAL_MS });
    const done = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.on("connect", () => done(true));
    socket.on("timeout", () => done(false));
    socket.on("error", () => done(false));
  });
}
