#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tc-testing cases of wale (kmod/wale/tests/tdc), by the kernel's own tdc.py.
#
# Where a command of a case's setup or teardown fails, tdc.py may call that case, and all
# behind it, skipped; here none is to be.
#
# Runs inside a guest, with TDC_SOURCE naming a copy of the kernel's
# tools/testing/selftests/tc-testing.  tdc.py wants to write beside itself and
# takes its settings from there, so that it is copied to /run first.
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
mkdir -p /run/tdc
cp -r "$TDC_SOURCE/." /run/tdc
rm -rf /run/tdc/tc-tests/*
cp "$cases"/*.json /run/tdc/tc-tests
cat > /run/tdc/tdc_config_local.py <<END
from tdc_config import NAMES  # it is importing us, after defining them
NAMES.update(TC="$(command -v tc)", IP="$(command -v ip)")
ENVIR = {"TC_LIB_DIR": "${TC_LIB_DIR:-}", "PATH": "$PATH"}
END
cd /run/tdc
files=$(cd tc-tests && for file in *.json; do printf 'tc-tests/%s ' "$file"; done)
echo "TAP version 13"
# shellcheck disable=SC2086 # the names have no spaces
python3 tdc.py --format tap --outfile /run/tdc/results -f $files > /run/tdc/log 2>&1 || true
# shellcheck disable=SC2086
echo "1..$(python3 -c 'import json, sys; print(sum(len(json.load(open(f))) for f in sys.argv[1:]))' $files)"
sed -i -E 's/^ok (.*) # skipped - /not ok \1, skipped: /' /run/tdc/results
grep -E '^(ok|not ok|#|[[:space:]])' /run/tdc/results || { cat /run/tdc/log; exit 1; }
! grep -q '^not ok' /run/tdc/results
