module pulumi-etcd/tools/cluster-pki

go 1.26.0
