#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A script of the kernel's selftests, unmodified: script.sh COLLECTION NAME
#
# Runs inside a guest, in a copy of the kernel's tools/testing/selftests.  Scripts write into /tmp
# and beside themselves, and all of the machine is read only there; they ask modprobe and modinfo
# for what the running kernel has, also built in; and one that a patch has added to the source may
# not be executable.
set -eu

modprobe=$(cat /proc/sys/kernel/modprobe)
mkdir -p /run/bin /run/selftests
printf '#!/bin/sh\nexec %s "$@"\n' "$modprobe" > /run/bin/modprobe
printf '#!/bin/sh\nexec /sbin/modinfo -b %s/modules "$@"\n' "${modprobe%/*}" > /run/bin/modinfo
chmod +x /run/bin/*
export PATH="/run/bin:$PATH"
cp -r ./*.h lib* net kselftest /run/selftests
mount -t tmpfs tmpfs /tmp
cd "/run/selftests/$1"
chmod +x "$2"
exec "./$2"
