import type { ClientTlsSpec, TlsSpec } from "./types";

export const DEFAULT_CLIENT: ClientTlsSpec = { auth: "required", alsoPlaintext: false };
export const DEFAULT_RESTART: TlsSpec["restartPolicy"] = "IfRequired";
