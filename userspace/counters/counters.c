// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3)))
static int fail(struct counters_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return -1;
}

/*
 * A level's misses are counted when its references are, or not at all: where
 * events take turns, a ratio of two that were counted at different times means little.
 */
static int group_of(const struct counters *counters, int counter)
{
	switch (counter) {
	case INSTRUCTIONS:
		return counters->fd[CYCLES];
	case L2_MISSES:
		return counters->fd[L2_REFERENCES];
	case L3_MISSES:
		return counters->fd[L3_REFERENCES];
	default:
		return -1;
	}
}

/* Nobody here can count such an event, whatever is asked and by whom. */
static bool means_unsupported(int number)
{
	return number == ENOENT || number == EOPNOTSUPP || number == ENODEV || number == ENXIO ||
	       number == EINVAL;
}

/*
 * The kernel says "no such event" of each event where there is no PMU. It is
 * the PMU that is missing if it says so of the cycles, too.
 */
static bool pmu_is_missing(const struct counters_os *os)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,	/* what most users may */
		.exclude_hv = 1,
	};
	int fd = os->open(&attr, 0, -1);

	if (fd < 0)
		return means_unsupported(errno);
	os->close(fd);
	return false;
}

static int not_allowed(const struct counters_os *os, bool user_only, int number,
		       struct counters_error *error)
{
	int paranoid = os->paranoid();

	if (!user_only && paranoid == 2)
		return fail(error, "not allowed to count the kernel: kernel.perf_event_paranoid is "
			    "2. As root: `sysctl kernel.perf_event_paranoid=1`, or `setcap "
			    "cap_perfmon+ep` for this program; or count user space only (--user)");
	if (paranoid > 1)
		return fail(error, "not allowed to count: kernel.perf_event_paranoid is %d. As "
			    "root: `sysctl kernel.perf_event_paranoid=1`, or `setcap "
			    "cap_perfmon+ep` for this program", paranoid);
	return fail(error, "not allowed to count (%s), though kernel.perf_event_paranoid is %d: a "
		    "container's seccomp filter forbids perf_event_open, or the program belongs to "
		    "another user", strerror(number), paranoid);
}

/* 0: the event is not to be had here, and why_not says so. -1: something to be put right. */
static int open_failed(struct counters *counters, int counter, pid_t pid, int number,
		       struct counters_error *error)
{
	const char *name = counter_names[counter].name;
	const char *event = counters->events->of[counter].name;

	switch (number) {
	case EACCES:
	case EPERM:
		return not_allowed(counters->os, counters->events->user_only, number, error);
	case ENOSYS:
		return fail(error, "this kernel has no perf_event_open: it was built without "
			    "CONFIG_PERF_EVENTS, or a container's seccomp filter hides it");
	case EMFILE:
	case ENFILE:
		return fail(error, "too many events: no file descriptor is left for %s (%s). Raise "
			    "the limit (`ulimit -n`, or fs.file-max), or name fewer events "
			    "(--events)",
			    name, strerror(number));
	case ENOSPC:
	case EBUSY:
		return fail(error, "too many events: the CPU has no counter left for %s (%s: %s). "
			    "Name fewer (--events), or end what else counts: another perf, the NMI "
			    "watchdog (`sysctl kernel.nmi_watchdog=0`)",
			    name, event, strerror(number));
	case ESRCH:
		return fail(error, "process %d is gone: it ended before it could be counted",
			    (int)pid);
	}
	if (!means_unsupported(number))
		return fail(error, "cannot count %s (%s): %s", name, event, strerror(number));
	if (counter < HARDWARE_COUNTERS && pmu_is_missing(counters->os))
		return fail(error, "no PMU: this machine has no hardware counters, or shows none, "
			    "as most virtual machines do. Use bare metal, or give the guest a PMU "
			    "(QEMU: -accel kvm -cpu host,pmu=on), or count what needs none "
			    "(--events software)");
	snprintf(counters->why_not[counter], sizeof(counters->why_not[counter]),
		 "the kernel refuses %.120s: %s", event, strerror(number));
	return 0;
}

static int open_one(struct counters *counters, int counter, pid_t pid, enum counters_start start,
		    struct counters_error *error)
{
	const struct event *event = &counters->events->of[counter];
	struct perf_event_attr attr = event->attr;

	if (!event->name) {
		snprintf(counters->why_not[counter], sizeof(counters->why_not[counter]), "%s",
			 event->why_not);
		return 0;
	}
	attr.disabled = 1;
	attr.inherit = 1;
	attr.enable_on_exec = start == COUNT_FROM_EXEC;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	counters->fd[counter] = counters->os->open(&attr, pid, group_of(counters, counter));
	if (counters->fd[counter] < 0)
		return open_failed(counters, counter, pid, errno, error);
	return 0;
}

static int none_available(const struct counters *counters, struct counters_error *error)
{
	size_t used = (size_t)snprintf(error->text, sizeof(error->text),
				       "none of these can be counted on this CPU (%s):",
				       counters->events->cpu);

	for (int i = 0; i < COUNTERS && used < sizeof(error->text); i++)
		if (counters->wanted & COUNTER_BIT(i))
			used += (size_t)snprintf(error->text + used, sizeof(error->text) - used,
						 "\n  %s: %s", counter_names[i].name,
						 counters->why_not[i]);
	return -1;
}

int counters_open(struct counters *counters, const struct counters_os *os,
		  const struct events *events, unsigned int wanted, pid_t pid,
		  enum counters_start start, struct counters_error *error)
{
	bool any = false;

	*counters = (struct counters){ .os = os, .events = events, .wanted = wanted };
	for (int i = 0; i < COUNTERS; i++)
		counters->fd[i] = -1;
	if (wanted & ALL_HARDWARE && os->hybrid())
		return fail(error, "this CPU has cores of two kinds (cpu_core, cpu_atom), and an "
			    "event counts on one kind only: the sum over threads that move between "
			    "them would be wrong. Count what needs no PMU (--events software)");
	for (int i = 0; i < COUNTERS; i++) {
		if (!(wanted & COUNTER_BIT(i)))
			continue;
		if (open_one(counters, i, pid, start, error)) {
			counters_close(counters);
			return -1;
		}
		any |= counters->fd[i] >= 0;
	}
	return any ? 0 : none_available(counters, error);
}

static int control(const struct counters *counters, unsigned long request, const char *what,
		   struct counters_error *error)
{
	for (int i = 0; i < COUNTERS; i++)
		if (counters->fd[i] >= 0 && counters->os->ioctl(counters->fd[i], request))
			return fail(error, "cannot switch %s %s: %s", counter_names[i].name, what,
				    strerror(errno));
	return 0;
}

int counters_enable(const struct counters *counters, struct counters_error *error)
{
	return control(counters, PERF_EVENT_IOC_ENABLE, "on", error);
}

int counters_disable(const struct counters *counters, struct counters_error *error)
{
	return control(counters, PERF_EVENT_IOC_DISABLE, "off", error);
}

/* To the nearest. Times 2^64 would not fit in 64 bits. */
static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
	return (uint64_t)(((unsigned __int128)raw * enabled + running / 2) / running);
}

static int read_one(const struct counters *counters, int counter, struct counters_result *result,
		    struct counters_error *error)
{
	struct {
		uint64_t value, enabled, running;
	} data;
	ssize_t n = counters->os->read(counters->fd[counter], &data, sizeof(data));
	const char *name = counter_names[counter].name;

	if (n < 0)
		return fail(error, "cannot read %s: %s", name, strerror(errno));
	if (n == 0) {
		snprintf(result->why_not, sizeof(result->why_not),
			 "the kernel gave the event up while it was counted");
		return 0;
	}
	if (n != sizeof(data))
		return fail(error, "cannot read %s: the kernel gave %zd bytes, not %zu", name, n,
			    sizeof(data));
	result->raw = data.value;
	result->enabled_ns = data.enabled;
	result->running_ns = data.running;
	if (data.enabled && !data.running) {
		snprintf(result->why_not, sizeof(result->why_not), "the event never got a counter "
			 "of the CPU: others held them all. Name fewer events (--events)");
		return 0;
	}
	result->available = true;
	result->value = data.running < data.enabled ?
			scale(data.value, data.enabled, data.running) : data.value;
	return 0;
}

int counters_read(const struct counters *counters, struct counters_result results[COUNTERS],
		  struct counters_error *error)
{
	for (int i = 0; i < COUNTERS; i++) {
		results[i] = (struct counters_result){ 0 };
		if (counters->fd[i] < 0)
			memcpy(results[i].why_not, counters->why_not[i],
			       sizeof(results[i].why_not));
		else if (read_one(counters, i, &results[i], error))
			return -1;
	}
	return 0;
}

double counters_share(const struct counters_result *result)
{
	return result->running_ns < result->enabled_ns ?
	       (double)result->running_ns / (double)result->enabled_ns : 1;
}

void counters_close(struct counters *counters)
{
	for (int i = 0; i < COUNTERS; i++) {
		if (counters->fd[i] >= 0)
			counters->os->close(counters->fd[i]);
		counters->fd[i] = -1;
	}
}
