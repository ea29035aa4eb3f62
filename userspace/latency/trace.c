// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

/* The bits of sched_switch's prev_state that mean that the thread sleeps or ends. */
#define SLEEPS 0xff

static bool enable(struct trace *t)
{
	return follow_enable(&t->follow, "sched", "sched_waking", NULL) &&
	       follow_enable(&t->follow, "sched", "sched_switch", NULL) &&
	       follow_enable(&t->follow, "sched", "sched_process_fork", NULL);
}

void trace_open(struct trace *t, pid_t pid, struct wakeups *wakeups)
{
	*t = (struct trace){ .wakeups = wakeups };
	if (!follow_open(&t->follow, "fast-latency", pid))
		return;
	if (enable(t))
		wakeups_follow(wakeups, pid);
	else
		trace_close(t);
}

void trace_close(struct trace *t)
{
	follow_close(&t->follow);
}

/* Threads that started outside of the regions. */
static void follow_all(struct trace *t)
{
	char *text = tracefs_instance_file_read(t->follow.instance.tracefs, "set_event_pid", NULL);
	char *rest;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		wakeups_follow(t->wakeups, atoi(line));
	free(text);
}

void trace_begin(struct trace *t)
{
	if (!t->follow.instance.tracefs)
		return;
	follow_all(t);
	wakeups_gap(t->wakeups);
	instance_record(&t->follow.instance, true);
}

static unsigned long long number(struct tep_event *event, const void *data, const char *name)
{
	unsigned long long value = 0;

	tep_read_number_field(tep_find_field(event, name), data, &value);
	return value;
}

static int take(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	struct trace *t = context;
	const void *data = record->data;

	(void)cpu;
	if (record->missed_events)
		instance_give_up(&t->follow.instance, "the trace buffers were full: too many events; make "
				 "the run shorter");
	if (!strcmp(event->name, "sched_waking")) {
		/* The answers to its markers wake it up, too. */
		if (tep_data_pid(t->follow.formats, record) != getpid())
			wakeups_waking(t->wakeups, (pid_t)number(event, data, "pid"), record->ts);
	} else if (!strcmp(event->name, "sched_switch")) {
		wakeups_switch(t->wakeups, (pid_t)number(event, data, "prev_pid"),
			       !(number(event, data, "prev_state") & SLEEPS),
			       (pid_t)number(event, data, "next_pid"), record->ts);
	} else if (!strcmp(event->name, "sched_process_fork")) {
		wakeups_follow(t->wakeups, (pid_t)number(event, data, "child_pid"));
	}
	return 0;
}

/* Without the lost events the percentiles would be wrong. */
static void look_for_losses(struct instance *i)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		uint64_t lost = instance_lost(i, cpu);

		if (lost)
			instance_give_up(i, "the trace buffers were full: %" PRIu64 " events of "
					 "CPU %ld were lost; make the run shorter", lost, cpu);
	}
}

void trace_end(struct trace *t)
{
	struct instance *i = &t->follow.instance;

	if (!i->tracefs)
		return;
	instance_record(i, false);
	look_for_losses(i);
	follow_read(&t->follow, take, t);
	/* Seen on a virtual machine: one CPU leaves its idle thread without an event. */
	if (t->wakeups->missing)
		instance_give_up(i, "tracefs: this kernel has not traced %llu of the program's "
				 "switches onto a CPU", (unsigned long long)t->wakeups->missing);
}
