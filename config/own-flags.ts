/**
 * etcd flags that are the product's own, and why. A second value for one of them would make etcd exit, or would
 * quietly undo what the transitions rely on.
 */
const OWN_FLAGS: [pattern: RegExp, mend: string][] = [
  [/^name$/, "The members are named after their pods; set etcd:name"],
  [/^(data|wal)-dir$/, "The data is kept on the member's volume; set etcd:storage"],
  [
    /^listen-.*|^(initial-)?advertise-.*$/,
    "The addresses follow from etcd:name, etcd:namespace, etcd:clusterDomain and etcd:tls",
  ],
  [/^initial-cluster.*$|^discovery.*$/, "The members follow from etcd:name and etcd:replicas"],
  [/^force-new-cluster.*$/, "It throws the other members away; restore a member by hand where that is meant"],
  [/^(.*-)?(cert|key|trusted-ca|ca)-file$|^(.*-)?client-cert-auth$|^(peer-)?auto-tls$/, "Set etcd:tls"],
  [/^tls-min-version$/, "Use etcd:tls.minVersion"],
  [/^cipher-suites$/, "Use etcd:tls.cipherSuites"],
  [/^config-file$/, "With it etcd ignores every flag; set the flags in etcd:extraArgs instead"],
  [/^(version|help|h)$/, "With it etcd prints and exits; leave it out"],
];

/** What to do instead of setting the flag; undefined where the flag is the user's to set. */
export function mendForOwnFlag(flag: string): string | undefined {
  return OWN_FLAGS.find(([pattern]) => pattern.test(flag))?.[1];
}
