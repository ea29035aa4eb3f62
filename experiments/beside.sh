#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Another load: runs a program while N processes beside it compute without end, from when this
# script has counted to TURNS. For `fast try` (Documentation/programs.rst, *Beside another load*).
#   experiments/beside.sh N TURNS PROGRAM ARGS...
: "${3:?usage: beside.sh N TURNS PROGRAM ARGS...}"

left=$1
turns=$2
shift 2
others=
while [ "$left" -gt 0 ]; do
	left=$((left - 1))
	while :; do :; done &
	others="$others $!"
done
while [ "$turns" -gt 0 ]; do
	turns=$((turns - 1))
done
"$@"
status=$?
# shellcheck disable=SC2086 # as many words as processes
[ -z "$others" ] || kill $others
exit $status
