#!/bin/sh
# The first process in the cluster's namespaces: prepares the mounts and becomes
# the process that holds the namespaces. Everything in them ends with it.
# usage: keeper.sh CLUSTER_FOLDER CACHE_FOLDER KEEPER_PROGRAM NODE_NAME
set -eu
cluster=$1 cache=$2 program=$3 node=$4

hostname "$node" 2>/dev/null || echo "$node" >/proc/sys/kernel/hostname
mkdir -p "$cluster/run" "$cluster/var/lib" "$cluster/var/log" "$cluster/var/tmp"
ln -sfn /run "$cluster/var/run"
mount -n -t tmpfs -o mode=755 tmpfs "$cluster/run"
# -n: mount may not keep its own table, which would be below /run.
mkdir "$cluster/run/cluster" "$cluster/run/tools" "$cluster/run/netns"
mount -n --bind "$cluster" "$cluster/run/cluster"
mount -n --bind "$cache" "$cluster/run/tools"
mount -n --move "$cluster/run" /run
mount -n --bind /run/cluster/var /var
# The kubelet hands mounts on to pods only from a shared tree.
mount -n --make-rshared /
exec "$program"
