# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# wale.bash - bash completion for wale

_wale_interfaces()
{
	local path
	for path in /sys/class/net/*; do
		echo "${path##*/}"
	done
}

_wale_link_options()
{
	# generated: options
	echo --rate --trace --loop --hold --stop --delay --jitter --jitter_correlation \
		--limit --line --down_drops --policy --threshold --share_factor --victims \
		--policy_ecn --nopolicy_ecn --rem --policer --flows --breaker --input_rate \
		--loss --loss_correlation --loss_ecn --noloss_ecn --drop_list --slot --reorder \
		--duplicate --corrupt --corrupt_fix --nocorrupt_fix --overhead --mpu \
		--drop_report --gso --seed --slack --sessions --start --feedback --nofeedback \
		--scone
	# generated: end
	echo --up --down --replace --to --order --netns --container
}

# The options of a link; some have words for values.
_wale_link_add()
{
	local cur=$1 prev=$2
	case $prev in
	# generated: values
	--rate)
		echo unlimited
		;;
	--trace)
		echo file off
		;;
	--jitter)
		echo distribution overtaking noovertaking
		;;
	--limit)
		echo cells
		;;
	--line)
		echo unlimited
		;;
	--down_drops)
		echo arrivals all
		;;
	--policy)
		echo tail epd seldrop fba random_tail rem
		;;
	--rem)
		echo interval gamma alpha target phi
		;;
	--policer)
		echo off rate burst excess mark
		;;
	--breaker)
		echo off rate after
		;;
	--input_rate)
		echo unlimited
		;;
	--loss)
		echo gemodel state
		;;
	--drop_list)
		echo off flow packets
		;;
	--slot)
		echo off packets bytes
		;;
	--reorder)
		echo gap
		;;
	--corrupt)
		echo fix
		;;
	--overhead)
		echo raw ethernet atm pppoe vlan
		;;
	--drop_report)
		echo remote local
		;;
	--gso)
		echo split keep
		;;
	--sessions)
		echo off arrival mean max step
		;;
	--start)
		echo at
		;;
	--feedback)
		echo idle
		[[ -n $cur ]] || _wale_link_options
		;;
	--scone)
		echo off link share period average
		;;
	--delay | --jitter_correlation | --threshold | --share_factor | --victims | --flows | --loss_correlation | --duplicate | --mpu | --seed | --slack) ;;
	# generated: end
	at)
		date -u +%FT%TZ
		;;
	--order)
		echo first last
		;;
	--netns)
		ip netns list 2>/dev/null | cut -d' ' -f1
		;;
	--to | --container) ;;
	distribution)
		echo uniform normal pareto paretonormal
		;;
	*)
		[[ $cur == -* || -z $cur ]] && _wale_link_options
		;;
	esac
}

_wale_link()
{
	local cur=$1 prev=$2 verb=${COMP_WORDS[2]}
	if ((COMP_CWORD == 2)); then
		echo add change show del --help
	elif ((COMP_CWORD == 3)); then
		_wale_interfaces
		[[ $verb == show ]] && echo --json --stats
	elif [[ $verb == add || $verb == change ]]; then
		_wale_link_add "$cur" "$prev"
	elif [[ $verb == show ]]; then
		echo --json --stats --netns --container
	elif [[ $verb == del ]]; then
		echo --to --netns --container
	fi
}

_wale_rate_options()
{
	case $1 in
	lag | --lag)
		echo now rtt
		;;
	age | --age)
		echo none
		;;
	swing | --swing)
		echo 0% 50%
		;;
	phi)
		echo 1.1
		;;
	rise | --rise)
		echo fast additive
		;;
	base-rtt | --base-rtt)
		echo measured
		;;
	layer | --layer)
		echo ip ethernet atm payload
		;;
	follow)
		echo dev
		;;
	netns)
		ls /run/netns 2>/dev/null
		;;
	beta | --beta | time | --capacity | --interval) ;;
	*)
		return 1
		;;
	esac
}

_wale_rate()
{
	local cur=$1 prev=$2 verb=${COMP_WORDS[2]}
	if ((COMP_CWORD == 2)); then
		echo set del show monitor play share --help
	elif [[ $prev == dev ]] || [[ $verb == share && $prev == share ]]; then
		_wale_interfaces
	elif [[ $prev == dst || $prev == flow || $prev == play ]]; then
		:
	elif _wale_rate_options "$prev"; then
		:
	else
		case $verb in
		set)
			((COMP_CWORD == 3)) && echo dev dst flow
			((COMP_CWORD > 4)) &&
				echo share link weight phi lag age beta swing rise pace nopace \
					base-rtt layer time follow netns \
					unlimited
			;;
		del)
			echo dev dst flow all
			;;
		show)
			echo dev dst flow --flows --json
			;;
		monitor)
			echo --flows --json
			;;
		play)
			echo dev dst flow lag age beta swing phi rise pace base-rtt \
				layer --loop --delete --quiet
			;;
		share)
			echo --capacity --interval --age --beta --lag --swing \
				--rise --pace --base-rtt --layer --json --quiet
			;;
		esac
	fi
}

_wale_scone()
{
	local prev=$2
	if ((COMP_CWORD == 2)); then
		echo dev show del listen --help
	elif [[ $prev == dev || $prev == path ]]; then
		_wale_interfaces
	elif [[ ${COMP_WORDS[2]} == dev && $prev == share ]]; then
		_wale_interfaces
	elif [[ ${COMP_WORDS[2]} == dev && $prev =~ ^(rate|period)$ ]]; then
		: # a value
	elif [[ ${COMP_WORDS[2]} == dev ]]; then
		echo rate path share period
	elif [[ ${COMP_WORDS[2]} == show ]]; then
		echo dev --json
	elif [[ ${COMP_WORDS[2]} == del ]]; then
		echo dev
	elif ! _wale_rate_options "$prev"; then
		echo dev share link weight phi lag beta swing rise pace nopace base-rtt layer \
			--show --json --quiet
	fi
}

_wale_watch()
{
	case $2 in
	-l | --link)
		_wale_interfaces
		;;
	-i | --interval | -n | --count | -d | --duration) ;;
	*)
		echo --interval --link --no-links --flows --count --duration \
			--json --links-csv --flows-csv --help
		;;
	esac
}

_wale_serve()
{
	case $2 in
	-u | --user)
		compgen -u -- "$1"
		;;
	-l | --listen | -p | --port | -m | --max-transfers | -1 | --once | \
		-a | --max-per-address | -t | --idle-timeout | --batch) ;;
	*)
		[[ $1 == -* ]] &&
			echo --listen --port --max-transfers --max-per-address \
				--user --idle-timeout --batch --once --json --quiet \
				--help
		;;
	esac
}

_wale_get()
{
	case $2 in
	-c | --cc)
		cat /proc/sys/net/ipv4/tcp_available_congestion_control
		;;
	-n | --bytes | --offset | -d | --duration | --sha256 | -p | --port | \
		-P | --parallel | -t | --timeout | --local-port | --rcvbuf | --batch | \
		--arrivals | --transfers | --mean-size | --seed) ;;
	*)
		[[ $1 == -* ]] &&
			echo --cc --bytes --offset --repeat --duration --out --discard \
				--sha256 --no-sha256 --port --parallel \
				--timeout --local-port --rcvbuf --batch --arrivals \
				--transfers --mean-size --seed --json \
				--progress --no-progress --help
		;;
	esac
}

_wale_send()
{
	case $2 in
	-r | --rate | -f | --packets-per-second | -s | --size | -n | --packets | \
		-d | --duration | --at | -p | --port) ;;
	*)
		[[ $1 == -* ]] &&
			echo --rate --packets-per-second --size --packets \
				--duration --at --port --json --help
		;;
	esac
}

_wale_receive()
{
	case $2 in
	-l | --listen | -p | --port | -n | --packets | -t | --idle-timeout | \
		--packets-csv) ;;
	*)
		echo --listen --port --packets --idle-timeout --packets-csv \
			--json --help
		;;
	esac
}

_wale()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local words='' word
	local -a all

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words='serve get send receive link rate scone watch help --version'
	else
		case ${COMP_WORDS[1]} in
		link | rate | scone | watch | serve | get | send | receive)
			words=$("_wale_${COMP_WORDS[1]}" "$cur" "$prev")
			;;
		help)
			words='serve get send receive link rate scone watch'
			;;
		esac
	fi

	# compgen -W would expand the words, of which names of devices can be any text.
	read -r -d '' -a all <<<"$words"
	for word in "${all[@]}"; do
		[[ $word == "$cur"* ]] && COMPREPLY+=("$(printf %q "$word")")
	done
	# What is no word of ours may be a file.
	if [[ -z $words ]]; then
		case $prev in
		--out | -o | --links-csv | --flows-csv | --packets-csv | file | serve | play)
			compopt -o default 2>/dev/null
			;;
		esac
	fi
}

complete -F _wale wale
