#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# systemd_boot.sh - becomes the systemd of a machine made of namespaces
#
#   unshare --mount --pid --net --ipc --uts --cgroup --fork systemd_boot.sh STAGE CONSOLE
#
# The machine sees this system read only, with empty /tmp, /var and /run, and the
# folder STAGE as /run/wale.  Of units it knows only those in STAGE/units, and
# starts test.target.  CONSOLE is a terminal, such as /dev/pts/3.
set -eu

stage=$1
console=$2
mount --make-rprivate /
root=$(mktemp -d)
mount --rbind / "$root"
mount -o remount,ro,bind "$root"
for empty in run tmp var; do
	mount -t tmpfs tmpfs "$root/$empty"
done
mkdir "$root/var/tmp" "$root/run/wale" "$root/run/old"
mount --bind "$stage" "$root/run/wale"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in null zero full random urandom tty; do
	touch "$root/dev/$node"
	mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
touch "$root/dev/console"
mount --bind "$console" "$root/dev/console"
ip link set lo up
cd "$root"
pivot_root . run/old
umount -l /run/old
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=wale-test \
	SYSTEMD_UNIT_PATH=/run/wale/units /lib/systemd/systemd --system \
	--unit=test.target --log-level=info --log-target=console --log-color=no
