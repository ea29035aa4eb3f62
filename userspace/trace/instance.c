// SPDX-License-Identifier: GPL-2.0
#include "instance.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

/*
 * A wake-up takes some 120 bytes: room for half a million on each CPU, but at most an
 * eighth of the available memory, and at least MIN_BUFFER_KB.
 */
#define MAX_BUFFER_KB (64 * 1024)
#define MIN_BUFFER_KB 1024

bool instance_give_up(struct instance *i, const char *format, ...)
{
	va_list arguments;

	if (i->why_not[0])
		return false;
	va_start(arguments, format);
	vsnprintf(i->why_not, sizeof(i->why_not), format, arguments);
	va_end(arguments);
	return false;
}

/* An instance that a killed process has left would keep its memory until the next boot. */
static int tidy_up(const char *name, void *program)
{
	size_t length = strlen(program);
	struct tracefs_instance *left;
	int pid;

	if (strncmp(name, program, length) || sscanf(name + length, "-%d", &pid) != 1 ||
	    !kill(pid, 0) || errno != ESRCH)
		return 0;
	left = tracefs_instance_create(name);
	if (left) {
		tracefs_instance_destroy(left);
		tracefs_instance_free(left);
	}
	return 0;
}

/* Not MemFree: most of a machine's memory is its page cache after a while. */
size_t instance_buffer_kb(FILE *meminfo, size_t cpus)
{
	char line[128];
	size_t kb = 0;

	while (fgets(line, sizeof(line), meminfo))
		if (sscanf(line, "MemAvailable: %zu", &kb) == 1)
			break;
	kb = kb / 8 / cpus;
	return kb > MAX_BUFFER_KB ? MAX_BUFFER_KB : kb < MIN_BUFFER_KB ? MIN_BUFFER_KB : kb;
}

static size_t buffer_kb(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	FILE *meminfo = fopen("/proc/meminfo", "re");
	size_t kb;

	if (!meminfo)
		return MIN_BUFFER_KB;
	kb = instance_buffer_kb(meminfo, cpus > 0 ? (size_t)cpus : 1);
	fclose(meminfo);
	return kb;
}

bool instance_put(struct instance *i, const char *file, const char *text)
{
	if (tracefs_instance_file_write(i->tracefs, file, text) >= 0)
		return true;
	return instance_give_up(i, "tracefs: cannot write %s to %s: %s", text, file,
				strerror(errno));
}

bool instance_enable(struct instance *i, const char *system, const char *event,
		     const char *filter)
{
	if (filter &&
	    tracefs_event_file_write(i->tracefs, system, event, "filter", filter) < 0)
		return instance_give_up(i, "tracefs: %s:%s does not take the filter %s: %s", system,
					event, filter, strerror(errno));
	if (tracefs_event_enable(i->tracefs, system, event))
		return instance_give_up(i, "tracefs: %s:%s cannot be enabled: %s", system, event,
					strerror(errno));
	return true;
}

static bool set_up(struct instance *i, size_t kb)
{
	i->buffer_kb = kb ? kb : buffer_kb();
	i->on = tracefs_trace_on_get_fd(i->tracefs);
	if (i->on < 0)
		return instance_give_up(i, "tracefs: tracing_on: %s", strerror(errno));
	tracefs_trace_off_fd(i->on);
	if (tracefs_instance_set_buffer_size(i->tracefs, i->buffer_kb, -1))
		return instance_give_up(i, "tracefs: no memory for a buffer of %zu KiB for each CPU",
					i->buffer_kb);
	/* A full buffer must not overwrite its first events: the lost events are counted. */
	if (tracefs_option_disable(i->tracefs, TRACEFS_OPTION_OVERWRITE))
		return instance_give_up(i, "tracefs: the kernel has no option overwrite");
	/* CPUs' own clocks would not agree well enough. */
	return instance_put(i, "trace_clock", "mono");
}

bool instance_open(struct instance *i, const char *program, size_t kb)
{
	char name[32];

	*i = (struct instance){ .on = -1 };
	errno = 0;
	if (!tracefs_tracing_dir() || access(tracefs_tracing_dir(), W_OK))
		return instance_give_up(i, "tracefs cannot be used: %s (it takes root, and a kernel "
					"with trace events)",
					errno ? strerror(errno) : "it is not mounted");
	tracefs_instances_walk(tidy_up, (void *)program);
	snprintf(name, sizeof(name), "%s-%d", program, (int)getpid());
	i->tracefs = tracefs_instance_create(name);
	if (!i->tracefs)
		return instance_give_up(i, "tracefs: no instance can be made: %s",
					strerror(errno));
	if (set_up(i, kb))
		return true;
	instance_close(i);
	return false;
}

void instance_close(struct instance *i)
{
	if (i->on >= 0)
		close(i->on);
	i->on = -1;
	if (i->tracefs) {
		tracefs_instance_destroy(i->tracefs);
		tracefs_instance_free(i->tracefs);
	}
	i->tracefs = NULL;
}

bool instance_record(struct instance *i, bool on)
{
	if ((on ? tracefs_trace_on_fd(i->on) : tracefs_trace_off_fd(i->on)) >= 0)
		return true;
	return instance_give_up(i, "tracefs: tracing_on: %s", strerror(errno));
}

/* Events that found no room are lost; the kernel counts them for each CPU. */
uint64_t instance_lost(const struct instance *i, long cpu)
{
	char file[64], *text, *found;
	uint64_t events;

	snprintf(file, sizeof(file), "per_cpu/cpu%ld/stats", cpu);
	text = tracefs_instance_file_read(i->tracefs, file, NULL);
	found = text ? strstr(text, "dropped events: ") : NULL;
	events = found ? strtoull(found + strlen("dropped events: "), NULL, 10) : 0;
	free(text);
	return events;
}
