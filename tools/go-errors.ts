import { UserError } from "./errors.ts";

/** What to do about a failure of Go, by what Go printed. The first that fits. */
const REMEDIES: [pattern: RegExp, remedy: string][] = [
  [
    /dial tcp|lookup .*: |i\/o timeout|TLS handshake|x509: |unexpected EOF|connection (refused|reset)|proxyconnect|50\d /,
    'Go could not download a module. Look at the network and at "go env GOPROXY", and run the same command again: what was downloaded and compiled so far is kept',
  ],
  [
    /checksum mismatch|SECURITY ERROR/,
    "A module is not the one that go.sum names. Look at what stands between this machine and the module proxy; do not go on before that is known",
  ],
  [
    /no space left on device/,
    "The disk is full: building takes about 12 GB for Go's caches and 3 GB for the tools. Make room, and run the same command again",
  ],
  [
    /signal: killed|cannot allocate memory|out of memory/,
    "A compiler was killed, as a rule for want of memory: building takes about 4 GB. Close other programs, and run the same command again: what was compiled so far is kept",
  ],
  [
    /requires go >= |go\.mod requires go |toolchain not available/,
    "This Go is too old: install the version that the message names, or newer",
  ],
];

/** The failure with what to do about it. What fits none is a fault of the build itself, and said to be one. */
export function explainGo(error: Error): UserError {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(error.message))?.[1];
  const unknown =
    'This should build on every machine: please report it, with the lines above and the output of "go version"';
  return new UserError(`${error.message}\n${remedy ?? unknown}`);
}
