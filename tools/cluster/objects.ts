/** What is in the cluster from the start. */

export const certManagerNamespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "cert-manager" } };

export const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "local", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: "pulumi-etcd/local-volume",
  reclaimPolicy: "Delete",
  volumeBindingMode: "WaitForFirstConsumer",
  allowVolumeExpansion: false,
};

/** A namespace with one of everything that has to work, made once to see it working. */
export const trialNamespace = "cluster-trial";

export function trial(): object[] {
  const metadata = { name: "trial", namespace: trialNamespace };
  return [
    { apiVersion: "cert-manager.io/v1", kind: "Issuer", metadata, spec: { selfSigned: {} } },
    {
      apiVersion: "cert-manager.io/v1",
      kind: "Certificate",
      metadata,
      spec: {
        secretName: "trial",
        commonName: "trial",
        issuerRef: { name: "trial" },
        privateKey: { algorithm: "ECDSA" },
      },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          { name: "trial", image: "localhost/pause:1", volumeMounts: [{ name: "volume", mountPath: "/volume" }] },
        ],
        volumes: [{ name: "volume", persistentVolumeClaim: { claimName: "trial" } }],
      },
    },
  ];
}
