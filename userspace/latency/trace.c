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

static bool learn_pages(struct trace *t)
{
	int size;
	char *format = tracefs_instance_file_read(NULL, "events/header_page", &size);
	bool known = format && !tep_parse_header_page(t->formats, format, (unsigned long)size,
						      sizeof(long));

	free(format);
	return known ||
	       instance_give_up(&t->instance, "tracefs: events/header_page cannot be read");
}

/*
 * tracefs_local_events_system() would read the formats of all events, and every symbol
 * of the kernel along with them.
 */
static bool enable(struct trace *t, const char *event)
{
	int size;
	char *format = tracefs_event_file_read(NULL, "sched", event, "format", &size);
	bool known = format && !tep_parse_event(t->formats, format, (unsigned long)size, "sched");

	free(format);
	if (!known)
		return instance_give_up(&t->instance, "tracefs: the kernel has no event sched:%s",
					event);
	return instance_enable(&t->instance, "sched", event, NULL);
}

static bool set_up(struct trace *t, pid_t pid)
{
	char text[16];

	t->formats = tep_alloc();
	if (!t->formats)
		return instance_give_up(&t->instance, "tracefs: no memory for the formats of events");
	tep_set_file_bigendian(t->formats, tep_is_local_bigendian(t->formats));
	if (tracefs_option_enable(t->instance.tracefs, TRACEFS_OPTION_EVENT_FORK))
		return instance_give_up(&t->instance, "tracefs: the kernel has no option event-fork");
	snprintf(text, sizeof(text), "%d", (int)pid);
	return instance_put(&t->instance, "set_event_pid", text) && learn_pages(t) &&
	       enable(t, "sched_waking") && enable(t, "sched_switch") &&
	       enable(t, "sched_process_fork");
}

void trace_open(struct trace *t, pid_t pid, struct wakeups *wakeups)
{
	*t = (struct trace){ .wakeups = wakeups };
	if (!instance_open(&t->instance, "fast-latency", 0))
		return;
	if (set_up(t, pid))
		wakeups_follow(wakeups, pid);
	else
		trace_close(t);
}

void trace_close(struct trace *t)
{
	if (t->formats)
		tep_free(t->formats);
	t->formats = NULL;
	instance_close(&t->instance);
}

/* Threads that started outside of the regions. */
static void follow_all(struct trace *t)
{
	char *text = tracefs_instance_file_read(t->instance.tracefs, "set_event_pid", NULL);
	char *rest;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		wakeups_follow(t->wakeups, atoi(line));
	free(text);
}

void trace_begin(struct trace *t)
{
	if (!t->instance.tracefs)
		return;
	follow_all(t);
	wakeups_gap(t->wakeups);
	instance_record(&t->instance, true);
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
		instance_give_up(&t->instance, "the trace buffers were full: too many events; make "
				 "the run shorter");
	if (!strcmp(event->name, "sched_waking")) {
		/* The answers to its markers wake it up, too. */
		if (tep_data_pid(t->formats, record) != getpid())
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
	struct instance *i = &t->instance;

	if (!i->tracefs)
		return;
	instance_record(i, false);
	look_for_losses(i);
	if (tracefs_iterate_raw_events(t->formats, i->tracefs, NULL, 0, take, t))
		instance_give_up(i, "tracefs: the events cannot be read: %s", strerror(errno));
	/* Seen on a virtual machine: one CPU leaves its idle thread without an event. */
	if (t->wakeups->missing)
		instance_give_up(i, "tracefs: this kernel has not traced %llu of the program's "
				 "switches onto a CPU", (unsigned long long)t->wakeups->missing);
}
