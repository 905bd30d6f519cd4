#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own tdc.py with some files of cases: tdc.sh FILE...
#
# Runs inside a guest, with TDC_SOURCE naming a copy of the kernel's
# tools/testing/selftests/tc-testing.  tdc.py wants to write beside itself and takes its settings
# from there, so that it is copied to /run first.  Prints TAP; the exit code is 1 if a case failed.
# Where a command of a case's setup or teardown fails, tdc.py may call that case, and all behind it,
# skipped; with TDC_STRICT, none is to be.
set -eu

mkdir -p /run/tdc
cp -r "$TDC_SOURCE/." /run/tdc
rm -rf /run/tdc/tc-tests/*
cp "$@" /run/tdc/tc-tests
cat > /run/tdc/tdc_config_local.py <<END
import os
from tdc_config import NAMES  # it is importing us, after defining them
NAMES.update(TC="$(command -v tc)", IP="$(command -v ip)")
ENVIR = {name: os.environ[name] for name in ("TC_LIB_DIR", "PATH") if name in os.environ}
END
cd /run/tdc
files=$(cd tc-tests && for file in *.json; do printf 'tc-tests/%s ' "$file"; done)
# teqlN is no name of a module, so that the kernel finds it only if it is loaded.
"$(cat /proc/sys/kernel/modprobe)" -q -- sch_teql 2> /dev/null || true
echo "TAP version 13"
# shellcheck disable=SC2086 # the names have no spaces
python3 tdc.py --format tap --outfile /run/tdc/results -f $files > /run/tdc/log 2>&1 || true
if grep -q '^Unable to import the scapy' /run/tdc/log; then
	echo "1..0 # SKIP this python3 has no scapy"
	exit 4
fi
# shellcheck disable=SC2086
echo "1..$(python3 -c 'import json, sys; print(sum(len(json.load(open(f))) for f in sys.argv[1:]))' $files)"
[ ! -e /run/tdc/results ] || [ -z "${TDC_STRICT:-}" ] ||
	sed -i -E 's/^ok (.*) # skipped - /not ok \1, skipped: /' /run/tdc/results
grep -E '^(ok|not ok|#|[[:space:]])' /run/tdc/results || { cat /run/tdc/log; exit 1; }
! grep -q '^not ok' /run/tdc/results
