#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Another load: runs a program while N processes compute without end. They start when this script
# has counted to TURNS. For `fast try` (Documentation/results.rst, *Beside another load*).
#   experiments/beside.sh N TURNS PROGRAM ARGS...
: "${3:?usage: beside.sh N TURNS PROGRAM ARGS...}"

for number in "$1" "$2"; do
	case $number in
	''|*[!0-9]*|0?*|??????????*)
		echo "beside.sh: $number: not a number from 0 to 999999999" >&2
		exit 2
		;;
	esac
done
left=$1
turns=$2
shift 2
others=
# Background processes of a script ignore SIGINT; and a process that has not run yet still has these
# traps, which would take SIGTERM.
# shellcheck disable=SC2086 # as many words as processes
trap '[ -z "$others" ] || kill -KILL $others' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
while [ "$left" -gt 0 ]; do
	left=$((left - 1))
	while :; do :; done &
	others="$others $!"
done
while [ "$turns" -gt 0 ]; do
	turns=$((turns - 1))
done
"$@"
