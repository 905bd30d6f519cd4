#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the selftests, each in a guest of its own, and prints one TAP stream.
#
#   run.sh [-l] [NAME]...
#
#   -l     list the names
#   NAME   run these only
#
# A test of the stream is a case of a selftest.  What a guest must not do, such
# as a kernel warning or not ending, is a failed case too.  The exit code is 0
# if none failed.  TDC_SOURCE may name a folder tc-testing of a kernel tree; the
# default is that of the installed linux-source package.
set -u

here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../wale-lab
tools=$here/../../userspace/tests/guest
limit=300
kernel_line=${WALE_KERNEL:-}
flavour=${kernel_line#"${kernel_line%%+*}"}
kernel_line=${kernel_line%%+*}
[[ -z $flavour ]] || limit=600 # sanitizers and counters cost time
declare -A commands=(
	[kunit]="$here/kunit.sh"
	[counters]="python3 $here/counters.py"
	[placement]="python3 $here/placement.py"
	[change]="python3 $here/change.py"
	[life]="python3 $here/life.py"
	[tcp]="python3 $here/tcp.py"
	[classic]="python3 $here/classic.py"
	[feedback]="python3 $here/feedback.py"
	[channel]="python3 $here/channel.py"
	[channel-follow]="python3 $here/channel_follow.py"
	[channel-advice]="python3 $here/channel_advice.py"
	[channel-scale]="python3 $here/channel_scale.py"
	[ratcp]="python3 $here/ratcp.py"
	[ratcp-stress]="python3 $here/ratcp_stress.py"
	[truncation]="python3 $here/truncation.py"
	[faults]="python3 $here/faults.py"
	[tdc]="$here/tdc.sh"
	[tool-tc]="python3 $tools/tc.py"
	[tool-link]="python3 $tools/link.py"
	[tool-watch]="python3 $tools/watch.py"
	[tool-rate]="python3 $tools/rate.py"
	[tool-share]="python3 $tools/rate_share.py"
	[tool-serve]="python3 $tools/serve.py"
)
names=(kunit counters placement change life feedback tcp classic
	channel channel-follow channel-advice channel-scale ratcp ratcp-stress
	truncation faults tdc
	tool-tc tool-link tool-watch tool-rate tool-share tool-serve)

# Unpacks tc-testing from the newest linux-source package, once; prints where.
tdc_source() {
	local archive target
	if [[ -n ${TDC_SOURCE:-} ]]; then
		echo "$TDC_SOURCE"
		return
	fi
	archive=$(find /usr/src -name 'linux-source-[0-9]*.tar.xz' 2> /dev/null | sort -V | tail -1)
	[[ -n $archive ]] || return 0
	target=${XDG_CACHE_HOME:-$HOME/.cache}/wale/tc-testing/$(basename "$archive" .tar.xz)-$(stat -c %Y "$archive")
	if [[ ! -e $target/tdc.py ]]; then
		rm -rf "$target.new"
		mkdir -p "$target.new"
		tar -xf "$archive" -C "$target.new" --strip-components=5 --wildcards \
			'linux-source-*/tools/testing/selftests/tc-testing' || return 0
		rm -rf "$target"
		mv "$target.new" "$target"
	fi
	echo "$target"
}

guest() {
	local name=$1
	local -a options=(--quiet --wall-limit "$limit")
	case $name in
	kunit) options+=("--modules=wale_kunit,rate_feedback_kunit,ratcp_kunit,classic_kunit") ;;
	tool-rate | tool-share) options+=("--modules=sch_wale,rate_feedback,tcp_ratcp") ;;
	feedback) options+=("--modules=sch_wale,rate_feedback") ;;
	truncation | faults) # with sanitizers, whatever the others have
		options+=(--wall-limit 600 --kernel "$kernel_line+san" "--modules=rate_feedback,tcp_ratcp,sch_wale")
		;;
	classic | channel* | ratcp*) options+=("--modules=rate_feedback,tcp_ratcp,sch_wale") ;;
	tdc) options+=(--env "TDC_SOURCE=$(tdc_source)") ;;
	esac
	# shellcheck disable=SC2086 # a command is words
	"$lab" exec "${options[@]}" -- ${commands[$name]} 2>&1
}

if [[ ${1:-} == -l ]]; then
	printf '%s\n' "${names[@]}"
	exit 0
fi
for name in "$@"; do
	if [[ -z ${commands[$name]:-} ]]; then
		echo "run.sh: no selftest \"$name\"; there are: ${names[*]}" >&2
		exit 2
	fi
done
[[ $# -eq 0 ]] || names=("$@")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
count=0 failed=0 skipped=0
echo "TAP version 13"
for name in "${names[@]}"; do
	start=$EPOCHREALTIME
	guest "$name" > "$log"
	code=$?
	seen=0 bad=0 skip=0 planned=-1
	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in
		"ok "* | "not ok "*)
			((++count, ++seen))
			word=${line%%[0-9]*}
			text=${line#"$word"}
			text=${text#* }
			[[ $word == "not ok " ]] && ((++bad))
			[[ $text == *"# SKIP"* ]] && ((++skip))
			echo "$word$count $name: ${text#- }"
			;;
		"1.."*)
			planned=${line#1..}
			if [[ $planned == *SKIP* ]]; then
				((++count, ++seen, ++skip))
				echo "ok $count $name # SKIP ${planned#*SKIP }"
				planned=1 code=0
			fi
			;;
		"TAP version"* | "netlink: "*) ;; # the second: the kernel on odd requests
		*) echo "# ${line#\# }" ;;
		esac
	done < "$log"
	# A guest that ends badly for another reason than its failed cases.
	if [[ $seen -ne $planned || ($code -ne 0 && $bad -eq 0) ]]; then
		((++count, ++bad))
		echo "not ok $count $name: the guest ended with $code after $seen of $planned cases"
	fi
	((failed += bad, skipped += skip))
	awk -v n="$name" -v a="$start" -v b="$EPOCHREALTIME" \
		'BEGIN { printf "# %s: %.1f s\n", n, b - a }'
done
echo "1..$count"
echo "# $((count - failed - skipped)) passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
