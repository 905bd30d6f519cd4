#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tc-testing cases of wale (kmod/wale/tests/tdc), by the kernel's own tdc.py.
#
# Runs inside a guest, with TDC_SOURCE naming a copy of the kernel's
# tools/testing/selftests/tc-testing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cases=$here/../../kmod/wale/tests/tdc

if [ ! -e "${TDC_SOURCE:-}/tdc.py" ]; then
	echo "TAP version 13"
	if [ -n "${TDC_SOURCE:-}" ]; then
		echo "1..1"
		echo "not ok 1 no tdc.py in $TDC_SOURCE"
		exit 1
	fi
	echo "1..0 # SKIP no tdc.py: set TDC_SOURCE"
	exit 4
fi
export TDC_STRICT=1
exec sh "$here/../src/wale_lab/kselftest/tdc.sh" "$cases"/*.json
