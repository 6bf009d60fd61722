module pulumi-etcd/tools/pause

go 1.26.0
