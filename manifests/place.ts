import { headlessServiceName, type Identity } from "../config/names";
import { DATA_PATH, PEER_PATH, SERVER_PATH, TRUST_PATH } from "./paths";
import { TRUST_BUNDLE_KEY } from "./trust-bundle";

/** What a member's flags take from where it runs: names, addresses and paths. */
export interface MemberPlace {
  name: string;
  /** Host of the URLs under which others find it. */
  host: string;
  /** Hosts of the URLs that it listens on. */
  listen: { client: string[]; peer: string; metrics: string };
  dataDir: string;
  /** Folders with the leaves, as `tls.crt` and `tls.key`. */
  server: string;
  peer: string;
  /** The CA certificates that it accepts. */
  trustFile: string;
}

/** In a pod, whose name the kubelet fills in. */
export function podPlace(spec: Identity): MemberPlace {
  const all = "0.0.0.0";
  return {
    name: "$(POD_NAME)",
    host: `$(POD_NAME).${headlessServiceName(spec)}.${spec.namespace}.svc.${spec.clusterDomain}`,
    listen: { client: [all], peer: all, metrics: all },
    dataDir: DATA_PATH,
    server: SERVER_PATH,
    peer: PEER_PATH,
    trustFile: `${TRUST_PATH}/${TRUST_BUNDLE_KEY}`,
  };
}
