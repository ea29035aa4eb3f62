#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# LLVM 19.1.7's OpenMP runtime: a barrier wakes its threads one by one
#
# Eight threads meet at a barrier. Seven of them sleep when the last one comes (OMP_WAIT_POLICY=passive and
# KMP_BLOCKTIME=0).
# A good guess: all wait for the same, so one system call wakes all. So it is in libgomp of GCC 12.2 and 14.2.
# Seen: seven calls at least. Each thread sleeps on a futex of its own and is woken for itself.
#   To what looks at futexes (a tracer, a scheduler) a barrier is many hand-overs from one thread to one other.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
type gcc strace >/dev/null 2>&1 || fail 2 "cannot be tried: it needs gcc and strace"
download() { apt-get -qq -o APT::Sandbox::User=root download "$@" 2>/dev/null; }
download libgomp1=12.2.0-14+deb12u1 libomp5-19=1:19.1.7-3~deb12u1 ||
	download libgomp1=14.2.0-19 libomp5-19=1:19.1.7-3+b1 ||
	fail 2 "cannot be tried: Debian's mirror has other versions of libgomp1 and libomp5-19 (Debian 12, 13)"
for package in *.deb; do dpkg -x "$package" .; done

cat >barriers.c <<'EOF'
#include <omp.h>
#include <unistd.h>

int main(void)
{
#pragma omp parallel num_threads(8)
	for (int i = 0; i < 20; i++) {
		if (omp_get_thread_num() == 0)
			usleep(100000);
#pragma omp barrier
	}
}
EOF
gcc -fopenmp -c barriers.c
lib=usr/lib/x86_64-linux-gnu
gcc -o libgomp barriers.o -Wl,-rpath,"$tmp/$lib" "$lib/libgomp.so.1"
gcc -o llvm barriers.o -Wl,-rpath,"$tmp/$lib" "$lib/libomp.so.5"
export OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 OMP_DYNAMIC=false OMP_THREAD_LIMIT=8

for runtime in libgomp llvm; do
	strace -ff -o "$runtime.trace" -e trace=futex "./$runtime" || fail 2 "cannot be tried: the program or strace fails"
	wakes=$(cat "$runtime".trace.* | awk '/FUTEX_WAKE.* = [1-9]/ { n++ } END { printf "%d\n", n / 20 }')
	echo "$runtime: $wakes calls for each barrier wake threads (expected: 1)"
	case $runtime in
	libgomp) ((wakes <= 2)) || fail 1 "this has changed" ;;
	llvm) ((wakes >= 7)) || fail 1 "this has changed" ;;
	esac
done
