#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a guest of the vm engine runs: loads modules, runs one command, writes
# down how it ended.
#
#   vm_guest.sh FOLDER ROOT
#
# FOLDER, written by engines/vm.py: "modules" (paths, in order; a name without
# slash is a module of the kernel's own), "command" (a script that becomes the
# command), and where the clock is to be set, "start" (as `date` takes it).  "begun"
# goes there when this begins, and "status" in the end: "exit CODE", or "error WHAT"
# if the command could not run.  engines/vm.py makes "heard" when all came that was
# printed.
#
# ROOT has the host's root file system a second time.  The guest's own is 9p
# without a cache, in which a program starts in seconds; as the host's files are
# read only here, ROOT can have one.
folder=$1
root=$2
exec 2>&1

fail()
{
	echo "error $*" >"$folder/status"
	wait_until_heard
	exit 125
}

wait_until_heard()
{
	printf '\036wale: the job has ended\036'
	left=500
	until [ -e "$folder/heard" ] || [ $left -eq 0 ]; do
		sleep 0.05
		left=$((left - 1))
	done
}

cached_root()
{
	tag=$(findmnt -n -o SOURCE "$root") || return
	umount "$root" || return
	mount -t 9p -o ro,trans=virtio,version=9p2000.L,access=any,cache=loose,msize=524288 \
		"$tag" "$root" || return
	for part in dev proc sys run lib/modules var/tmp var/log var/cache; do
		mount --rbind "/$part" "$root/$part" || return
	done
}

dmesg -n 5	# from here on warnings and worse are shown on the console
echo "<4>wale: the job begins" >/dev/kmsg
touch "$folder/begun"
mkdir -p /run/netns /run/tmp || fail "make /run/netns"
chmod 1777 /run/tmp
cached_root || fail "mount $root"
ip link set lo up || fail "up lo"
[ ! -e "$folder/start" ] || date -s "$(cat "$folder/start")" >/dev/null || fail "set the clock"
while read -r module; do
	case $module in
	/*) insmod "$module" || fail "load module $module" ;;
	*) modprobe "$module" || fail "load module $module" ;;
	esac
done <"$folder/modules"
chroot "$root" sh "$folder/command"
code=$?
echo "exit $code" >"$folder/status"
sync
wait_until_heard
exit "$code"
