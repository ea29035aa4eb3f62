#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Another load: runs a program while N processes beside it compute without end. For `fast try`
# (Documentation/programs.rst, *Beside another load*).
#   experiments/beside.sh N PROGRAM ARGS...
: "${2:?usage: beside.sh N PROGRAM ARGS...}"

left=$1
shift
others=
while [ "$left" -gt 0 ]; do
	left=$((left - 1))
	while :; do :; done &
	others="$others $!"
done
"$@"
status=$?
# shellcheck disable=SC2086 # as many words as processes
[ -z "$others" ] || kill $others
exit $status
