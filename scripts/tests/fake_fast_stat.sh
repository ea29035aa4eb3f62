#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Acts as fast-stat, or under that name as fast-latency, and the benchmark below it, on the machine
# whose root is beside this file: prints what a benchmark would, and counts hand-offs in
# sched/fast/stat as a kernel would. What is in root/mode says how else it ends. In sh, since the
# tests make some thousand runs.
me=${0##*/}
root=${0%/*}/root
events= counts= groups= roi= mode= latency= threads=1 seed=0
while [ "$1" != -- ] && [ $# -gt 0 ]; do
	case $1 in
	--events) events=$2 ;;
	--json) counts=$2 ;;
	--roi) roi=1 ;;
	--groups) groups=1 ;;
	esac
	shift
done
[ "$me" = fast-latency ] && latency=1
[ -f "$root/mode" ] && read -r mode < "$root/mode"

latencies()
{
	wakeup='"events": 1000, "buckets": [[3000, 900], [9000, 100]], "why_not": null'
	[ "$mode" = no-tracefs ] &&
		wakeup='"events": null, "buckets": null, "why_not": "tracefs cannot be used: denied"'
	handoff='"events": 0, "buckets": []'
	[ "$1" = 0 ] || handoff="\"events\": 100, \"buckets\": [[$1, 99], [64000, 1]]"
	unseen=null
	[ "$2" ] && unseen='"no pthread mutex was seen"'
	printf '{"schema": 1, "exit_status": 0, "signal": null, "regions": %s, "elapsed_ns": 123, ' \
		"$regions"
	printf '"latencies": {"handoff": {"unit": "ns", %s, "why_not": null, "unseen": %s}, ' \
		"$handoff" "$unseen"
	printf '"wakeup": {"unit": "ns", %s, "unseen": null}}, ' "$wakeup"
	if [ "$1" != 0 ]; then
		printf '"locks": [{"process": 2, "address": "0x4c8080", "handoffs": 90}, '
		printf '{"process": 1, "address": "0x4c8080", "handoffs": 10}], '
		printf '"maps": {"process": 2, "text": "4c8000-4c9000 rw-p 00000000 00:00 0 '
		printf '                  [heap]\\n"}}\n'
	else
		printf '"locks": [], "maps": null}\n'
	fi
}

# Only asked what it can measure.
regions=null
if [ $# -eq 0 ] && [ "$me" = fast-latency ]; then
	if [ "$mode" = no-latencies ]; then
		echo "fast-latency: libfast-handoff.so: not found" >&2
		exit 125
	fi
	# A program that does nothing locks nothing.
	latencies 0 unseen > "$counts"
	exit
elif [ $# -eq 0 ]; then
	if [ "$mode" = pmu ]; then
		[ "$groups" ] && printf 'cycles,l2_misses\nl3_references,l3_misses\n'
		exit 0
	fi
	[ "$mode" = denied ] && echo "fast-stat: not allowed to count" >&2 && exit 125
	[ "$events" = software ] && exit
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

policy=off depth=- number=0 on=1
fast=$root/sys/kernel/debug/sched/fast
[ -f "$fast/policy" ] && read -r policy < "$fast/policy"
[ -f "$fast/depth" ] && read -r depth < "$fast/depth"
[ "$policy" = off ] && on=0
what=${latency:+ latency}
[ "$events" = none ] && what=" uncounted"
echo "$program $policy $depth$what" >> "$root/runs"
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
fails-late)
	seq 100000
	echo "no more" >&2
	exit 2
	;;
warns)
	echo "xz: not found" >&2
	;;
killed)
	echo '{"schema": 1, "bench'
	kill -KILL $$
	;;
esac

stat=$fast/stat
[ "$mode" = meddle ] && on=1
if [ -f "$stat" ] && [ $on = 1 ] && [ "$mode" != idle ]; then
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
elapsed=$((1000000 + 1000 * (number * 7919 % 11) - gain * on))
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
	printf '"%s": {"unit": "%s", "value": %s, "why_not": null}' "$@"
}

[ "$roi" ] && regions=1
[ "$mode" = two-rois ] && regions=2
[ "$mode" = no-counts ] && exit
if [ "$latency" ]; then
	waits=$((4000 - 1000 * on + 10 * (number % 5)))
	unseen=
	case $mode in
	uncontended) waits=0 ;;
	no-mutexes) waits=0 unseen=yes ;;
	esac
	latencies $waits $unseen > "$counts"
	[ "$mode" = ends-badly ] && exit 3
	exit 0
fi
{
	printf '{"schema": 2, "others": "no cgroup", "regions": %s, ' "$regions"
	printf '"elapsed_ns": %s, "counters": {' "$elapsed"
	case $events in
	*software*)
		counter context_switches switches $((40 + number % 3))
		printf ', '
		counter migrations migrations $((4 + number % 2))
		printf ', '
		counter task_clock ns $((2 * elapsed))
		;;
	esac
	case $events in
	*,software) printf ', ' ;;
	esac
	case $events in
	cycles*)
		counter cycles cycles $((3 * elapsed))
		printf ', '
		counter l2_misses misses $((3 * elapsed))
		;;
	l3*)
		counter l3_references references $((5 * elapsed))
		printf ', '
		counter l3_misses misses null
		;;
	esac
	printf '}, "doubts": ['
	[ "$mode" = doubtful ] && printf '"more l2_misses than l2_references"'
	printf ']}\n'
} > "$counts"
