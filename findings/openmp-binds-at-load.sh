#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libgomp of GCC 12.2 and 14.2: to load it with OMP_PROC_BIND=true confines the whole program to one CPU
#
# OMP_PROC_BIND=true asks for the threads of a parallel region to stay where they are. A program with threads of
# its own loads an OpenMP library, perhaps by way of another library, and runs no parallel region.
# A good guess: nothing happens before the first parallel region. So it is with LLVM 19.1.7's library.
# Seen: libgomp binds the thread that loads it to one place, at once. Threads that this one makes later, by whatever
#   means, inherit the mask, so all of them share a CPU; so do the programs that it starts. OMP_PLACES=threads does
#   the same.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
unset OMP_PLACES OMP_PROC_BIND GOMP_CPU_AFFINITY KMP_AFFINITY OMP_NUM_THREADS
(($(nproc) >= 2)) || fail 2 "cannot be tried: it needs two CPUs"

download() { apt-get -qq -o APT::Sandbox::User=root download "$@" 2>/dev/null; }
download libgomp1=12.2.0-14+deb12u1 libomp5-19=1:19.1.7-3~deb12u1 ||
	download libgomp1=14.2.0-19 libomp5-19=1:19.1.7-3+b1 ||
	fail 2 "cannot be tried: Debian's mirror has other versions of libgomp1 and libomp5-19 (Debian 12, 13)"
for package in *.deb; do dpkg -x "$package" .; done

cat >load.py <<'EOF'
import ctypes, os, sys, threading

def cpus():
    return len(os.sched_getaffinity(0))

before = cpus()
ctypes.CDLL(sys.argv[1])
in_thread = []
thread = threading.Thread(target=lambda: in_thread.append(cpus()))
thread.start()
thread.join()
print(before == cpus(), cpus(), in_thread[0])
EOF

load() { # SETTING LIBRARY WHAT_IS_SEEN
	local seen
	seen=$(env "$1" python3 load.py "$2")
	echo "$1, ${2##*/}: mask kept, CPUs of the loading thread, of a new one: $seen (expected: True $cpus $cpus)"
	[[ $seen == "$3" ]] || fail 1 "this has changed"
}
lib=$tmp/usr/lib/x86_64-linux-gnu
cpus=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')
load OMP_PROC_BIND=true "$lib/libomp.so.5" "True $cpus $cpus"
load OMP_PROC_BIND=true "$lib/libgomp.so.1" "False 1 1"
load OMP_PLACES=threads "$lib/libgomp.so.1" "False 1 1"
