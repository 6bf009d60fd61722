#!/bin/sh
# Makes this process's own view of the machine a host, and becomes the host's first process.
set -eu
folder=$1 node=$2 here=$3 sshd=$4 etcd=$5
room=$folder/room
mkdir -p "$room"
mount -t tmpfs -o mode=0755 none "$room"
for name in etc usr var; do
  mkdir "$room/$name" "$room/$name.work"
  mount -t overlay -o "lowerdir=/$name,upperdir=$room/$name,workdir=$room/$name.work" overlay "/$name"
done
mount -t tmpfs -o mode=0755 none /run
mkdir /run/sshd
rm -rf /etc/systemd/system
mkdir -p /etc/systemd/system
grep -q '^sshd:' /etc/passwd || echo 'sshd:x:74:74::/run/sshd:/usr/sbin/nologin' >>/etc/passwd
sed -i 's/^root:[^:]*:/root:*:/' /etc/shadow
# Not this machine's own root: a profile of its own, which greets as some do.
mkdir /run/root
echo 'echo Welcome' >/run/root/.bashrc
sed -i 's#^root:.*#root:x:0:0:root:/run/root:/bin/bash#' /etc/passwd
cp "$here/systemctl.sh" /usr/local/bin/systemctl
chmod 0755 /usr/local/bin/systemctl
# The folder that it lies in may be closed to other users.
touch /usr/local/bin/etcd
mount --bind "$etcd" /usr/local/bin/etcd
exec "$node" --no-warnings "$here/supervisor.ts" "$sshd" "$folder/ssh/config"
