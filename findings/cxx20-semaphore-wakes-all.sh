#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libstdc++ of GCC 12.2 and 14.2: to release a std::counting_semaphore by one wakes all that wait for it
#
# Four threads wait for a semaphore, and four releases by one follow. The same with a flag of type std::atomic<bool>,
# of which one waiter is notified.
# A good guess: a release by one wakes one thread, and so does notify_one().
# Seen: each release wakes all that still wait: 4 + 3 + 2 + 1 wake-ups for four units, of which six find nothing and
#   sleep again. notify_one() on an atomic<bool> wakes all four, too; on an atomic<int> it wakes one.
#   A futex is a word of 32 bits, as the int is. What is smaller or larger waits on a word of the library's.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
type g++ strace >/dev/null 2>&1 || fail 2 "cannot be tried: it needs g++ and strace"
major=$(g++ -dumpversion)
case $major in
12) version=12.2.0-14+deb12u1 ;;
14) version=14.2.0-19 ;;
*) fail 2 "cannot be tried: this is g++ $major, not 12 or 14 (Debian 12, 13)" ;;
esac
apt-get -qq -o APT::Sandbox::User=root download "libstdc++-$major-dev=$version" ||
	fail 2 "cannot be tried: there is no libstdc++-$major-dev $version to be had"
dpkg -x libstdc++*.deb .

cat >wake.cpp <<'EOF'
#include <atomic>
#include <cstring>
#include <semaphore>
#include <thread>
#include <vector>
#include <unistd.h>

std::counting_semaphore<> semaphore(0);
std::atomic<bool> flag(false);
std::atomic<int> number(0);

template <typename Wait, typename Wake>
void try_it(const char *name, Wait wait, int times, Wake wake)
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back(wait);
	sleep(2);
	(void)!write(2, name, strlen(name));
	for (int i = 0; i < times; i++, usleep(300000))
		wake();
	(void)!write(2, "end", 3);
	flag.notify_all();
	number.notify_all();
	for (auto &thread : threads)
		thread.join();
}

int main()
{
	try_it("semaphore", [] { semaphore.acquire(); }, 4, [] { semaphore.release(1); });
	try_it("bool", [] { flag.wait(false); }, 1, [] { flag = true; flag.notify_one(); });
	try_it("int", [] { number.wait(0); }, 1, [] { number = 1; number.notify_one(); });
}
EOF
g++ -std=c++20 -O1 -pthread -nostdinc++ -isystem "usr/include/c++/$major" \
	-isystem "usr/include/x86_64-linux-gnu/c++/$major" -o wake wake.cpp
strace -ff -o trace -e trace=futex,write ./wake 2>/dev/null || fail 2 "cannot be tried: the program or strace fails"

# What the main thread's wake-ups between a word and the next "end" return: how many threads were woken.
woken=$(cat trace.* | awk -F '"' '
	/^write/ { name = $2 }
	/FUTEX_WAKE/ { sub(/.*= /, ""); woken[name] += $0 }
	END { print woken["semaphore"] + 0, woken["bool"] + 0, woken["int"] + 0 }')
echo "four releases, notify_one of a bool, notify_one of an int wake $woken threads (expected: 4 1 1)"
[[ $woken == "10 4 1" ]] || fail 1 "this has changed"
