#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the selftests, each in a guest of its own, and prints one TAP stream.
#
#   run.sh [-l | -t | -H] [NAME]...
#
#   -l     list the names
#   -t     print the folder of tc-testing, and unpack it if need be
#   -H     run on this machine instead, as root, in real time: what asserts exact
#          times is skipped; modules are those of build/modules for this kernel
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
imports=$(cd "$here/../src" && pwd)
limit=300
kernel_line=${WALE_KERNEL:-}
flavour=${kernel_line#"${kernel_line%%+*}"}
kernel_line=${kernel_line%%+*}
[[ -z $flavour ]] || limit=1800 # sanitizers and counters cost time
declare -A commands=(
	[kunit]="$here/kunit.sh"
	[counters]="python3 $here/counters.py"
	[placement]="python3 $here/placement.py"
	[change]="python3 $here/change.py"
	[switch]="python3 $here/switch.py"
	[mark]="python3 $here/mark.py"
	[start]="python3 $here/start.py"
	[impair]="python3 $here/impair.py"
	[child]="python3 $here/child.py"
	[gso]="python3 $here/gso.py"
	[size]="python3 $here/size.py"
	[scone]="python3 $here/scone.py"
	[packets]="python3 $here/packet_trace.py"
	[life]="python3 $here/life.py"
	[tcp]="python3 $here/tcp.py"
	[classic]="python3 $here/classic.py"
	[feedback]="python3 $here/feedback.py"
	[channel]="python3 $here/channel.py"
	[channel-follow]="python3 $here/channel_follow.py"
	[channel-advice]="python3 $here/channel_advice.py"
	[channel-scale]="python3 $here/channel_scale.py"
	[ratcp]="python3 $here/ratcp.py"
	[ratcp-begin]="python3 $here/ratcp_begin.py"
	[ratcp-price]="python3 $here/ratcp_price.py"
	[ratcp-stress]="python3 $here/ratcp_stress.py"
	[truncation]="python3 $here/truncation.py"
	[faults]="python3 $here/faults.py"
	[bounds-memory]="python3 $here/bounds_memory.py"
	[bounds-file]="python3 $here/bounds_file.py"
	[bounds-charge]="python3 $here/bounds_charge.py"
	[stress]="python3 $here/stress.py --seconds 5 --seed 1"
	[bounds-link]="python3 $here/bounds_link.py"
	[bounds-channel]="python3 $here/bounds_channel.py"
	[bounds-trace]="python3 $here/bounds_trace.py"
	[tdc]="$here/tdc.sh"
	[tool-tc]="python3 $tools/tc.py"
	[tool-link]="python3 $tools/link.py"
	[tool-link-some]="python3 $tools/link_some.py"
	[tool-watch]="python3 $tools/watch.py"
	[tool-rate]="python3 $tools/rate.py"
	[tool-share]="python3 $tools/rate_share.py"
	[tool-scone]="python3 $tools/scone.py"
	[tool-scone-dev]="python3 $tools/scone_dev.py"
	[tool-serve]="python3 $tools/serve.py"
)
names=(kunit counters placement change start switch mark impair child gso size packets life feedback tcp classic
	channel channel-follow channel-advice channel-scale ratcp ratcp-begin ratcp-price ratcp-stress
	bounds-link bounds-memory bounds-channel bounds-trace bounds-file bounds-charge truncation faults tdc
	tool-tc tool-link tool-link-some tool-watch tool-rate tool-share tool-scone
	tool-scone-dev tool-serve)
# By its name only: stress, which wants two CPUs and real time (make check-vm).
# Why a selftest as a whole makes sense in virtual time only.
declare -A exact=(
	[counters]="it samples counters that agree while no time passes only"
	[tcp]="it asserts times of packets"
	[mark]="it asserts times of packets"
	[impair]="it asserts times of packets"
	[packets]="it asserts times of packets"
	[classic]="it asserts windows at times"
	[feedback]="it asserts rates at times"
	[channel-follow]="it counts the flows that were active in the last second"
	[channel-advice]="it asserts windows at times"
	[channel-scale]="it counts on that nothing happens between two requests"
	[ratcp]="it asserts windows at times"
	[ratcp-begin]="it asserts windows at times"
	[ratcp-price]="it asserts windows at times"
	[ratcp-stress]="it asserts windows at times"
	[truncation]="it needs sanitizers"
	[faults]="it needs sanitizers"
	[bounds-charge]="it needs a kernel of ours that has control groups"
	[tool-watch]="it asserts times of samples"
	[tool-serve]="it asserts idle timeouts"
	[tool-share]="it asserts rates at times"
)

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
		if tar -xf "$archive" -C "$target.new" --strip-components=5 --wildcards \
			'linux-source-*/tools/testing/selftests/tc-testing'; then
			rm -rf "$target"
			mv "$target.new" "$target"
		fi # else tdc.sh says that nothing is there
	fi
	echo "$target"
}

# All modules of KUnit tests, with commas between them.
kunit_modules() {
	basename -as .c "$here"/../../kmod/*/tests/*_kunit.c "$here"/../../tcp_ratcp/tests/*_kunit.c |
		paste -sd ,
}

# The modules that a selftest needs; sch_wale if it says nothing.
modules_of() {
	case $1 in
	kunit) kunit_modules ;;
	tool-rate | tool-share | tool-scone | tool-scone-dev) echo sch_wale,rate_feedback,tcp_ratcp ;;
	feedback | scone | bounds-trace) echo sch_wale,rate_feedback ;;
	classic | channel* | bounds-channel | ratcp* | stress | truncation | faults) echo rate_feedback,tcp_ratcp,sch_wale ;;
	*) echo sch_wale ;;
	esac
}

in_guest() {
	local name=$1
	local -a options=(--quiet --wall-limit "$limit" "--modules=$(modules_of "$name")"
		--env "PYTHONPATH=$imports")
	case $name in
	truncation | faults | bounds-charge) # with sanitizers, whatever the others have
		options+=(--wall-limit 1800 --kernel "$kernel_line+san")
		;;
	tdc) options+=(--env "TDC_SOURCE=$(tdc_source)") ;;
	kunit) options+=(--env "KUNIT_REQUIRED=1") ;;
	stress) options+=(--real) ;;
	bounds-link | bounds-channel | bounds-file) options+=(--real --memory 1536) ;;
	bounds-trace) options+=(--real) ;;
	esac
	# shellcheck disable=SC2086 # a command is words
	"$lab" exec "${options[@]}" -- ${commands[$name]} 2>&1
}

# The file of a module for the running kernel; nothing if it is not built.
module_file() {
	local release
	release=$(uname -r)
	find "$here/../../build/modules/$release" "$here/../../build/modules/$release-um" \
		-name "$1.ko" 2> /dev/null | head -1
}

# Namespaces go a moment after their last process, and their links with them.
unload() {
	local deadline=$((SECONDS + 60))
	until rmmod "$1" 2> /dev/null; do
		if ((SECONDS > deadline)); then
			echo "$1 cannot be unloaded"
			return 1
		fi
		sleep 0.2
	done
}

# Loads what there is of a selftest's modules, runs it, and unloads them again.
on_this_machine() {
	local name=$1 module file code
	local -a loaded=()
	if [[ -n ${exact[$name]:-} ]]; then
		echo "1..0 # SKIP needs virtual time: ${exact[$name]}"
		return
	fi
	for module in $(modules_of "$name" | tr , ' '); do
		file=$(module_file "$module")
		if [[ -n $file && ! -e /sys/module/$module ]]; then
			insmod "$file" || return
			loaded=("$module" "${loaded[@]}")
		fi
	done
	# shellcheck disable=SC2086 # a command is words
	PYTHONPATH=$imports TDC_SOURCE=$(tdc_source) timeout "$limit" ${commands[$name]} 2>&1
	code=$?
	for module in "${loaded[@]}"; do
		unload "$module" || code=1
	done
	return "$code"
}

if [[ ${1:-} == -l ]]; then
	printf '%s\n' "${names[@]}"
	exit 0
fi
if [[ ${1:-} == -t ]]; then
	tdc_source
	exit 0
fi
run=in_guest
if [[ ${1:-} == -H ]]; then
	run=on_this_machine limit=1800
	shift
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
	"$run" "$name" > "$log"
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
				planned=1
				[[ $code -ne 4 ]] || code=0
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
