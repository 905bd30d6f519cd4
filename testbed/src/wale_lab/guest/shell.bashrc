# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Start-up file of `wale-lab shell`: bash as root, outside of a topology's namespaces and, by
# `ns NAME`, inside of one.

[ -z "${WALE_ROWS:-}" ] || stty rows "$WALE_ROWS" cols "$WALE_COLUMNS" 2>/dev/null
HISTFILE=
export HISTFILE

# The namespace that this shell is in
wale_here() {
	ip netns identify $$ 2>/dev/null
}

# ns NAME: a shell in that namespace.  ns NAME COMMAND...: a command in it.
ns() {
	if [ $# -eq 0 ]; then
		echo "namespaces: $WALE_NAMESPACES" >&2
		return 1
	fi
	local name=$1
	shift
	if [ $# -gt 0 ]; then
		ip netns exec "$name" "$@"
	elif [ -n "${PS1:-}" ]; then
		ip netns exec "$name" /bin/bash --rcfile "${BASH_SOURCE[0]}" -i
	fi
}

# links: the state of every link
links() {
	local name
	for name in $WALE_NAMESPACES; do
		case $name in
		left | right | *.left | *.right) ;;
		*) continue ;;
		esac
		echo "$name:"
		tc -n "$name" -s qdisc show dev bottleneck
	done
}

# advice: what senders are advised, and which of their sockets listen
advice() {
	local name
	for name in $WALE_NAMESPACES; do
		case $name in
		*-sender) ;;
		*) continue ;;
		esac
		echo "$name:"
		ip netns exec "$name" wale rate show || return
		ip netns exec "$name" wale rate show --flows
	done
}

if [ -n "${PS1:-}" ]; then
	PS1='\[\e[1m\]'"$WALE_SCENARIO"':$(wale_here)\[\e[0m\] # '
	if [ -z "$(wale_here)" ]; then
		cat <<-TEXT
			$WALE_SCENARIO, in real time.  Namespaces: $WALE_NAMESPACES
			  ns NAME            a shell in a namespace (exit leaves it)
			  ns NAME COMMAND    a command in it, such as: ns pair1-sender ip route
			  links              the state of the links
			  advice             what senders are advised, and who listens
			tc, ip, ss, ping, iperf3 and wale are at hand; exit ends everything.
		TEXT
	fi
fi
