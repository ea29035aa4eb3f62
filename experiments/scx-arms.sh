#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Builds the schedulers of scx-arms.toml and makes its runs. An arm whose scheduler cannot be built
# is left out, with the reason on the screen and in build/schedulers/NAME.log.
#   experiments/scx-arms.sh [OPTIONS OF fast run]
# EXPERIMENT is another file with such arms. scx_simple and scx_central are of the kernel's source;
# the rest are from crates.io, by cargo (rustc 1.91 or newer; BPF_CLANG is the clang).
set -e
cd "$(dirname "$0")/.."
: "${EXPERIMENT:=experiments/scx-arms.toml}" "${FAST:=scripts/fast}"
schedulers=build/schedulers
runs=$schedulers/$(basename "$EXPERIMENT")
mkdir -p $schedulers

own='
import shutil, sys
from fastlab.base.progress import PlainReporter
from fastlab.kernel import kernels, sched_ext
request, reporter = kernels.BuildRequest("7.3", ("sched_ext",)), PlainReporter(sys.stderr)
(kernel,) = kernels.build(request, reporter)
shutil.copy(sched_ext.own_scheduler(sys.argv[1], kernel, request.places, reporter), sys.argv[2])
'

build() {
	case $1 in
	scx_simple | scx_central)
		PYTHONPATH=scripts build/venv/bin/python -c "$own" "$1" $schedulers
		;;
	*)
		cargo install --locked --root $schedulers/cargo "$1" &&
			cp "$schedulers/cargo/bin/$1" $schedulers
		;;
	esac
}

cp "$EXPERIMENT" "$runs"
for name in $(sed -n 's|^scheduler = "\.\./build/schedulers/\([a-z0-9_]*\).*|\1|p' "$EXPERIMENT"); do
	[ ! -e "$schedulers/$name" ] || continue
	if ! build "$name" >"$schedulers/$name.log" 2>&1; then
		echo "scx-arms: $name is left out: $(tail -n 1 "$schedulers/$name.log")" >&2
		# An arm is a paragraph.
		awk -v name="build/schedulers/$name\"" \
			'BEGIN { RS = ""; ORS = "\n\n" } !index($0, name)' "$runs" >"$runs.new"
		mv "$runs.new" "$runs"
	fi
done
sed -i 's|"\.\./build/schedulers/|"./|' "$runs"
exec "$FAST" run "$runs" --output results/scx-arms "$@"
