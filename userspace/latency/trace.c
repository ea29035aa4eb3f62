// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#define INSTANCE "fast-latency-"

/*
 * A wake-up takes some 120 bytes: room for half a million on each CPU, but never more
 * than an eighth of the free memory.
 */
#define MAX_BUFFER_KB (64 * 1024)
#define MIN_BUFFER_KB 1024

/* Of sched_switch's prev_state: the bits of a thread that sleeps or ends, no others. */
#define SLEEPS 0xff

__attribute__((format(printf, 2, 3)))
static bool give_up(struct trace *t, const char *format, ...)
{
	va_list arguments;

	if (t->why_not[0])
		return false;
	va_start(arguments, format);
	vsnprintf(t->why_not, sizeof(t->why_not), format, arguments);
	va_end(arguments);
	return false;
}

/* What one that was killed has left behind would hold its memory until the next boot. */
static int tidy_up(const char *name, void *unused)
{
	struct tracefs_instance *left;
	int pid;

	(void)unused;
	if (sscanf(name, INSTANCE "%d", &pid) != 1 || !kill(pid, 0) || errno != ESRCH)
		return 0;
	left = tracefs_instance_create(name);
	if (left) {
		tracefs_instance_destroy(left);
		tracefs_instance_free(left);
	}
	return 0;
}

static size_t buffer_kb(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sysinfo info;
	size_t kb;

	if (sysinfo(&info))
		return MIN_BUFFER_KB;
	kb = info.freeram * info.mem_unit / 1024 / 8 / (size_t)(cpus > 0 ? cpus : 1);
	return kb > MAX_BUFFER_KB ? MAX_BUFFER_KB : kb < MIN_BUFFER_KB ? MIN_BUFFER_KB : kb;
}

static bool put(struct trace *t, const char *file, const char *text)
{
	if (tracefs_instance_file_write(t->instance, file, text) >= 0)
		return true;
	return give_up(t, "tracefs: cannot write %s to %s: %s", text, file, strerror(errno));
}

static bool learn_pages(struct trace *t)
{
	int size;
	char *format = tracefs_instance_file_read(NULL, "events/header_page", &size);
	bool known = format && !tep_parse_header_page(t->formats, format, (unsigned long)size,
						      sizeof(long));

	free(format);
	return known || give_up(t, "tracefs: events/header_page cannot be read");
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
		return give_up(t, "tracefs: the kernel has no event sched:%s", event);
	if (tracefs_event_enable(t->instance, "sched", event))
		return give_up(t, "tracefs: sched:%s cannot be enabled: %s", event, strerror(errno));
	return true;
}

static bool set_up(struct trace *t, pid_t pid)
{
	char text[16];

	t->formats = tep_alloc();
	if (!t->formats)
		return give_up(t, "tracefs: no memory for the formats of events");
	tep_set_file_bigendian(t->formats, tep_is_local_bigendian(t->formats));
	t->on = tracefs_trace_on_get_fd(t->instance);
	if (t->on < 0)
		return give_up(t, "tracefs: tracing_on: %s", strerror(errno));
	tracefs_trace_off_fd(t->on);
	if (tracefs_instance_set_buffer_size(t->instance, buffer_kb(), -1))
		return give_up(t, "tracefs: no memory for the buffers");
	/* What comes last would push out what came first; so it is noticed instead. */
	if (tracefs_option_disable(t->instance, TRACEFS_OPTION_OVERWRITE) ||
	    tracefs_option_enable(t->instance, TRACEFS_OPTION_EVENT_FORK))
		return give_up(t, "tracefs: the kernel has no option overwrite or event-fork");
	snprintf(text, sizeof(text), "%d", (int)pid);
	/* CPUs' own clocks would not agree well enough. */
	return put(t, "trace_clock", "mono") && put(t, "set_event_pid", text) &&
	       learn_pages(t) && enable(t, "sched_waking") && enable(t, "sched_switch") &&
	       enable(t, "sched_process_fork");
}

void trace_open(struct trace *t, pid_t pid, struct wakeups *wakeups)
{
	char name[32];

	*t = (struct trace){ .on = -1, .wakeups = wakeups };
	errno = 0;
	if (!tracefs_tracing_dir() || access(tracefs_tracing_dir(), W_OK)) {
		give_up(t, "tracefs cannot be used: %s (it takes root, and a kernel with trace "
			"events)", errno ? strerror(errno) : "it is not mounted");
		return;
	}
	tracefs_instances_walk(tidy_up, NULL);
	snprintf(name, sizeof(name), INSTANCE "%d", (int)getpid());
	t->instance = tracefs_instance_create(name);
	if (!t->instance)
		give_up(t, "tracefs: no instance can be made: %s", strerror(errno));
	else if (set_up(t, pid))
		wakeups_follow(wakeups, pid);
	else
		trace_close(t);
}

void trace_close(struct trace *t)
{
	if (t->on >= 0)
		close(t->on);
	if (t->formats)
		tep_free(t->formats);
	if (t->instance) {
		tracefs_instance_destroy(t->instance);
		tracefs_instance_free(t->instance);
	}
	t->instance = NULL;
}

/* Threads that were started while nothing was recorded. */
static void follow_all(struct trace *t)
{
	char *text = tracefs_instance_file_read(t->instance, "set_event_pid", NULL);
	char *rest;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		wakeups_follow(t->wakeups, atoi(line));
	free(text);
}

void trace_begin(struct trace *t)
{
	if (!t->instance)
		return;
	follow_all(t);
	wakeups_gap(t->wakeups);
	if (tracefs_trace_on_fd(t->on) < 0)
		give_up(t, "tracefs: tracing_on: %s", strerror(errno));
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
		give_up(t, "the trace buffers were full: too many events; make the run shorter");
	if (!strcmp(event->name, "sched_waking")) {
		/* Our answers to its markers wake it up, too. */
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

/* Events that found no room are in no buffer; the kernel counts them for each CPU. */
static void look_for_losses(struct trace *t)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		char file[64], *text, *found;

		snprintf(file, sizeof(file), "per_cpu/cpu%ld/stats", cpu);
		text = tracefs_instance_file_read(t->instance, file, NULL);
		found = text ? strstr(text, "dropped events: ") : NULL;
		if (found && atoll(found + strlen("dropped events: ")))
			give_up(t, "the trace buffers were full: %lld events of CPU %ld were lost; "
				"make the run shorter", atoll(found + strlen("dropped events: ")),
				cpu);
		free(text);
	}
}

void trace_end(struct trace *t)
{
	if (!t->instance)
		return;
	tracefs_trace_off_fd(t->on);
	look_for_losses(t);
	if (tracefs_iterate_raw_events(t->formats, t->instance, NULL, 0, take, t))
		give_up(t, "tracefs: the events cannot be read: %s", strerror(errno));
	/* Seen on a virtual machine: one CPU leaves its idle thread without an event. */
	if (t->wakeups->missing)
		give_up(t, "tracefs: this kernel has not traced %llu of the program's switches onto "
			"a CPU", (unsigned long long)t->wakeups->missing);
}
