#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Acts as fast-stat and the benchmark below it, on the machine whose root is beside this file: prints
# what a benchmark would, and counts hand-offs in /proc/fast_stat as a kernel would. What is in
# root/mode says how else it ends. In sh, since the tests make some thousand runs.
root=${0%/*}/root
events= counts= roi= mode= threads=1 seed=0
while [ "$1" != -- ] && [ $# -gt 0 ]; do
	case $1 in
	--events) events=$2 ;;
	--json) counts=$2 ;;
	--roi) roi=1 ;;
	esac
	shift
done
[ -f "$root/mode" ] && read -r mode < "$root/mode"

# Only asked what it can count.
if [ $# -eq 0 ]; then
	[ "$events" = software ] || [ "$mode" = pmu ] && exit
	echo "fast-stat: no PMU: this machine has no hardware counters" >&2
	exit 125
fi

shift
program=$1
while [ $# -gt 0 ]; do
	case $1 in
	--threads) threads=$2 ;;
	--seed) seed=$2 ;;
	esac
	shift
done

policy=0 depth=- number=0
sysctls=$root/proc/sys/kernel
[ -f "$sysctls/sched_fast" ] && read -r policy < "$sysctls/sched_fast"
[ -f "$sysctls/sched_fast_depth" ] && read -r depth < "$sysctls/sched_fast_depth"
echo "$program $policy $depth" >> "$root/runs"
while read -r _; do
	number=$((number + 1))
done < "$root/runs"

case $mode in
"at $number "*) mode=${mode##* } ;;
"at "*) mode= ;;
esac
case $mode in
hang)
	sleep 60 &
	echo $! > "$root/child"
	wait
	;;
interrupt)
	kill -INT $PPID
	sleep 60
	;;
terminate)
	kill -TERM $PPID
	sleep 60
	;;
fails)
	echo "single_ctr: cannot make threads" >&2
	exit 2
	;;
killed)
	echo '{"schema": 1, "bench'
	kill -KILL $$
	;;
esac

stat=$root/proc/fast_stat
[ "$mode" = meddle ] && policy=1
if [ -f "$stat" ] && [ "$policy" != 0 ] && [ "$mode" != idle ]; then
	after=
	while read -r name count; do
		after="$after$name $((count + 7))
"
	done < "$stat"
	printf %s "$after" > "$stat"
fi

# Blocks have to differ, as a real machine's do.
gain=200000
case $mode in
same) gain=0 ;;
slower) gain=-100000 ;;
esac
elapsed=$((1000000 + 1000 * (number * 7919 % 11) - gain * policy))
each=500 more=$threads
while [ "$more" -gt 1 ]; do
	more=$((more - 1))
	each=$each,500
done
printf '{"schema": 1, "benchmark": "%s", "threads": %s, "seed": %s, "iterations": 2000, ' \
	"${program##*/}" "$threads" "$seed"
printf '"elapsed_ns": %s, "throughput": %s, "context_switches": 1, ' \
	"$elapsed" "$((2000000000000 / elapsed))"
printf '"migrations": null, "fairness": 0.9, "thread_throughput": [%s], ' "$each"
printf '"check": "ok", "check_detail": ""}\n'

counter()
{
	printf '"%s": {"unit": "%s", "value": %s, "share": %s, "why_not": null}' "$@"
}

regions=null
[ "$roi" ] && regions=1
[ "$mode" = two-rois ] && regions=2
[ "$mode" = no-counts ] && exit
{
	printf '{"schema": 1, "regions": %s, "elapsed_ns": %s, "counters": {' "$regions" "$elapsed"
	counter context_switches switches $((40 + number % 3)) 1.0
	printf ', '
	counter migrations migrations $((4 + number % 2)) 1.0
	printf ', '
	counter task_clock ns $((2 * elapsed)) 1.0
	if [ "$events" = all ]; then
		printf ', '
		counter cycles cycles $((3 * elapsed)) 1.0
		printf ', '
		counter l2_misses misses $((3 * elapsed)) 0.5
		printf ', '
		counter l3_misses misses null 0.0
	fi
	printf '}}\n'
} > "$counts"
