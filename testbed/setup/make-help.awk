# SPDX-License-Identifier: GPL-2.0
# make-help.awk - the list of `make help`, from the ## comments of a Makefile
/^##@/ { printf "\n%s\n", substr($0, 5) }
/^[a-z-]+:.*##/ {
	target = $0; sub(/:.*/, "", target)
	text = $0; sub(/.*##[ \t]*/, "", text)
	printf "  make %-16s %s\n", target, text
}
