#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# glibc 2.36 and 2.41: a broadcast wakes all waiters of a condition, though none of them can go on
#
# Eight threads wait for a condition. Another broadcasts while it holds their mutex, as programs do, and unlocks later.
# A good guess: one waiter at most is woken before the mutex is free, and the others move to the mutex's queue.
#   FUTEX_CMP_REQUEUE was made for that; musl 1.2.3 and 1.2.5 have a chain of FUTEX_REQUEUE, and one is woken.
# Seen: glibc wakes all eight at once. Each finds the mutex locked and goes to sleep again: eight wake-ups for nothing,
#   and eight more, one by one, as the mutex is handed on.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
type gcc strace >/dev/null 2>&1 || fail 2 "cannot be tried: it needs gcc and strace"
glibc=$(getconf GNU_LIBC_VERSION)
[[ $glibc =~ 2\.(36|41)$ ]] || fail 2 "cannot be tried: this is $glibc, not 2.36 or 2.41 (Debian 12, 13)"
for version in 1.2.3-1 1.2.5-3.1~deb13u1; do
	apt-get -qq -o APT::Sandbox::User=root download "musl-dev=$version" 2>/dev/null && break
done || fail 2 "cannot be tried: there is no musl-dev 1.2.3-1 or 1.2.5-3.1~deb13u1 to be had (Debian 12, 13)"
dpkg -x musl-dev*.deb .

cat >broadcast.c <<'EOF'
#include <pthread.h>
#include <unistd.h>

enum { WAITERS = 8 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting, done;

static void *wait_for_it(void *argument)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	while (!done)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return argument;
}

int main(void)
{
	pthread_t threads[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, wait_for_it, NULL);
	sleep(2);
	pthread_mutex_lock(&mutex);
	if (waiting < WAITERS)
		return 1;
	done = 1;
	(void)!write(2, "broadcast\n", 10);
	pthread_cond_broadcast(&condition);
	sleep(1);
	(void)!write(2, "unlock\n", 7);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOF
gcc -O1 -pthread -o glibc broadcast.c
musl=usr/lib/x86_64-linux-musl
gcc -O1 -static -nostdinc -nostdlib -isystem usr/include/x86_64-linux-musl -o musl \
	"$musl/crt1.o" "$musl/crti.o" broadcast.c "$musl/libc.a" "$musl/crtn.o"

for libc in musl glibc; do
	strace -ff -o "$libc.trace" -e trace=futex,write "./$libc" 2>/dev/null ||
		fail 2 "cannot be tried: the program or strace fails"
	woken=$(cat "$libc".trace.* | awk '/"broadcast/ { on = 1 } /"unlock/ { on = 0 }
		on && /FUTEX_WAKE/ { woken += $NF } END { print woken + 0 }')
	echo "$libc: $woken of 8 waiters are woken while the mutex is locked (expected: 1 at most)"
	case $libc:$woken in musl:[01] | glibc:8) ;; *) fail 1 "this has changed" ;; esac
done
