#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# For `git bisect run` in a kernel's repository: is the program slower with the revision that is
# checked out than with GOOD? A revision that cannot be built or run is skipped.
#   git bisect run .../experiments/bisect.sh GOOD PERCENT PROGRAM ARGS...
# PERCENT is the loss of time that is still good. FAST is the command (default: that of this tree).
# git takes a smaller status for a bad revision.
STOP=255
if [ $# -lt 3 ]; then
	echo "usage: bisect.sh GOOD PERCENT PROGRAM ARGS..." >&2
	exit $STOP
fi

good=$1
percent=$2
shift 2
: "${FAST:=$(dirname "$0")/../scripts/fast}"

# What is wrong with all revisions alike is not skipped, one revision after the other.
if ! git rev-parse --verify --quiet "$good^{commit}" >/dev/null; then
	echo "bisect.sh: $good is no revision of $(pwd); git tag and git log have them" >&2
	exit $STOP
fi
if ! command -v "$1" >/dev/null; then
	echo "bisect.sh: $1 is no program; give its whole path, which every revision has" >&2
	exit $STOP
fi
if [ -e .config ] || [ -e include/config ]; then
	echo "bisect.sh: $(pwd) holds a build of its own; run make mrproper" >&2
	exit $STOP
fi

"$FAST" ab --kernel ".@$good" --kernel . --fail-below="-$percent" -- "$@"
case $? in
0)
	exit 0
	;;
4)
	# Slower: bad.
	exit 1
	;;
2 | 130)
	# A wrong command line, or Ctrl-C: git stops.
	exit $STOP
	;;
*)
	exit 125
	;;
esac
