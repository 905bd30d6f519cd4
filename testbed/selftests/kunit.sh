#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The KUnit tests of the modules that are loaded: their results as flat TAP.
#
# Runs inside a guest; loading a *_kunit.ko has run its tests already.
set -eu

results=/sys/kernel/debug/kunit
if ! ls "$results"/*/results > /dev/null 2>&1; then
	echo "TAP version 13"
	if [ -n "${KUNIT_REQUIRED:-}" ]; then
		echo "1..1"
		echo "not ok 1 no KUnit module is loaded"
		exit 1
	fi
	echo "1..0 # SKIP no KUnit module is loaded"
	exit 4
fi
cat "$results"/*/results | awk '
	/^ +(ok|not ok) [0-9]/ {
		sub(/^ +/, "")
		line = $0
		sub(/(ok|not ok) [0-9]+ /, "", line)
		lines[++n] = (/^not/ ? "not ok " : "ok ") n " " line
		failed += /^not/
	}
	/^ *# .*(EXPECTATION|ASSERTION|Expected)/ { lines[n + 0] = lines[n + 0] "\n" $0 }
	END {
		print "TAP version 13"
		print "1.." n + 0
		for (i = 1; i <= n; i++)
			print lines[i]
		exit failed > 0 || !n
	}'
