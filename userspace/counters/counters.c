// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3)))
static int fail(struct counters_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	error->kind = COUNTERS_BROKEN;
	return -1;
}

static bool is_hardware(int counter)
{
	return counter < HARDWARE_COUNTERS;
}

static bool by_cpu(const struct counters *counters, int counter)
{
	return counters->target.cpus && is_hardware(counter);
}

static bool counts_at(const struct counters *counters, size_t place, int counter)
{
	return by_cpu(counters, counter) == (counters->places[place].cpu >= 0);
}

/* The machine cannot count such an event, whatever the privileges. */
static bool means_unsupported(int number)
{
	return number == ENOENT || number == EOPNOTSUPP || number == ENODEV || number == ENXIO ||
	       number == EINVAL;
}

/*
 * Without a PMU the kernel reports "no such event" for each event. The PMU is
 * missing if it reports that for cycles, too.
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
	int fd = os->open(&attr, 0, -1, -1);

	if (fd < 0)
		return means_unsupported(errno);
	os->close(fd);
	return false;
}

static int not_allowed(const struct counters *counters, int counter, int number,
		       struct counters_error *error)
{
	bool user_only = counters->events->user_only;
	int paranoid = counters->os->paranoid();

	if (by_cpu(counters, counter) && paranoid > 0)
		return fail(error, "not allowed to count whole CPUs: kernel.perf_event_paranoid is "
			    "%d. As root: `sysctl kernel.perf_event_paranoid=0`, or `setcap "
			    "cap_perfmon+ep` for this program; or count by thread (--threads), "
			    "which slows the program down", paranoid);
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

static int too_many(const struct counters *counters, int counter, int number,
		    struct counters_error *error)
{
	fail(error, "too many events: the CPU has no counter left for %s (%s: %s). Name fewer "
	     "(--events; --groups says which of them can be counted at once), or end what else "
	     "counts: another perf, the NMI watchdog (`sysctl kernel.nmi_watchdog=0`)",
	     counter_names[counter].name, counters->events->of[counter].name, strerror(number));
	error->kind = COUNTERS_TOO_MANY;
	return -1;
}

/* 0: the event is not available here, and why_not says why. -1: the user can cure it. */
static int open_failed(struct counters *counters, int counter, int number,
		       struct counters_error *error)
{
	const char *name = counter_names[counter].name;
	const char *event = counters->events->of[counter].name;

	switch (number) {
	case EACCES:
	case EPERM:
		return not_allowed(counters, counter, number, error);
	case ENOSYS:
		return fail(error, "this kernel has no perf_event_open: it was built without "
			    "CONFIG_PERF_EVENTS, or a container's seccomp filter hides it");
	case EMFILE:
	case ENFILE:
		return fail(error, "too many events: no file descriptor is left for %s (%s). Raise "
			    "the hard limit (`ulimit -Hn`, or fs.file-max), or name fewer events "
			    "(--events)",
			    name, strerror(number));
	case ENOSPC:
	case EBUSY:
		return too_many(counters, counter, number, error);
	case ESRCH:
		return fail(error, "process %d is gone: it ended before it could be counted",
			    (int)counters->target.pid);
	}
	if (!means_unsupported(number))
		return fail(error, "cannot count %s (%s): %s", name, event, strerror(number));
	if (is_hardware(counter) && pmu_is_missing(counters->os))
		return fail(error, "no PMU: this machine has no hardware counters, or shows none, "
			    "as most virtual machines do. Use bare metal, or give the guest a PMU "
			    "(QEMU: -accel kvm -cpu host,pmu=on), or count what needs none "
			    "(--events software)");
	snprintf(counters->why_not[counter], sizeof(counters->why_not[counter]),
		 "the kernel refuses %.120s: %s", event, strerror(number));
	return 0;
}

/* The first hardware event of a place: the members of its group count when it does. */
static int leader_of(const struct counters_place *place, int counter)
{
	for (int i = 0; i < counter && is_hardware(counter); i++)
		if (place->fd[i] >= 0)
			return place->fd[i];
	return -1;
}

static int open_at(struct counters *counters, struct counters_place *place, int counter,
		   struct counters_error *error)
{
	struct perf_event_attr attr = counters->events->of[counter].attr;
	pid_t pid = place->cpu < 0 ? counters->target.pid : -1;
	int leader = leader_of(place, counter);
	const struct counters_os *os = counters->os;
	int fd, number;

	/* A member waits for its leader. */
	attr.disabled = leader < 0;
	attr.inherit = place->cpu < 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = os->open(&attr, pid, place->cpu, leader);
	number = errno;
	if (fd < 0 && leader >= 0 && means_unsupported(number)) {
		/* Does the kernel refuse the event, or one more event in the group? */
		fd = os->open(&attr, pid, place->cpu, -1);
		if (fd >= 0) {
			os->close(fd);
			return too_many(counters, counter, number, error);
		}
		number = errno;
	}
	place->fd[counter] = fd;
	return fd < 0 ? open_failed(counters, counter, number, error) : 0;
}

static int open_everywhere(struct counters *counters, int counter, struct counters_error *error)
{
	const struct event *event = &counters->events->of[counter];

	if (!event->name) {
		snprintf(counters->why_not[counter], sizeof(counters->why_not[counter]), "%s",
			 event->why_not);
		return 0;
	}
	for (size_t i = 0; i < counters->count; i++) {
		if (!counts_at(counters, i, counter))
			continue;
		if (open_at(counters, &counters->places[i], counter, error))
			return -1;
		/* All CPUs are alike. */
		if (counters->places[i].fd[counter] < 0)
			return 0;
	}
	return 0;
}

/* Wanted, and not refused. */
static bool is_open(const struct counters *counters, int counter)
{
	return counters->wanted & COUNTER_BIT(counter) && !counters->why_not[counter][0];
}

static int none_available(const struct counters *counters, struct counters_error *error)
{
	size_t used;

	fail(error, "none of these can be counted on this CPU (%s):", counters->events->cpu);
	used = strlen(error->text);
	for (int i = 0; i < COUNTERS && used < sizeof(error->text); i++)
		if (counters->wanted & COUNTER_BIT(i))
			used += (size_t)snprintf(error->text + used, sizeof(error->text) - used,
						 "\n  %s: %s", counter_names[i].name,
						 counters->why_not[i]);
	error->kind = COUNTERS_NONE;
	return -1;
}

static void add_place(struct counters *counters, int cpu)
{
	struct counters_place *place = &counters->places[counters->count++];

	place->cpu = cpu;
	for (int i = 0; i < COUNTERS; i++)
		place->fd[i] = -1;
}

static int add_places(struct counters *counters, struct counters_error *error)
{
	const cpu_set_t *cpus = counters->target.cpus;
	size_t most = 1 + (cpus ? (size_t)CPU_COUNT(cpus) : 0);

	counters->places = calloc(most, sizeof(*counters->places));
	if (!counters->places)
		return fail(error, "out of memory");
	add_place(counters, -1);
	for (int cpu = 0; counters->count < most; cpu++)
		if (CPU_ISSET(cpu, cpus))
			add_place(counters, cpu);
	return 0;
}

int counters_open(struct counters *counters, const struct counters_os *os,
		  const struct events *events, unsigned int wanted,
		  const struct counters_target *target, struct counters_error *error)
{
	bool any = !wanted;

	*counters = (struct counters){
		.os = os, .events = events, .wanted = wanted, .target = *target,
	};
	if (wanted & ALL_HARDWARE && os->hybrid())
		return fail(error, "this CPU has cores of two kinds (cpu_core, cpu_atom), and an "
			    "event counts on one kind only: the sum over threads that move between "
			    "them would be wrong. Count what needs no PMU (--events software)");
	if (add_places(counters, error))
		return -1;
	for (int i = 0; i < COUNTERS; i++) {
		if (!(wanted & COUNTER_BIT(i)))
			continue;
		if (open_everywhere(counters, i, error)) {
			counters_close(counters);
			return -1;
		}
		any |= is_open(counters, i);
	}
	if (any)
		return 0;
	counters_close(counters);
	return none_available(counters, error);
}

/*
 * The leader switches its group: one switch for each event would interrupt the CPU for each, and
 * the events would count different spans of time.
 */
static int control(const struct counters *counters, unsigned long request, const char *what,
		   struct counters_error *error)
{
	for (size_t place = 0; place < counters->count; place++)
		for (int i = 0; i < COUNTERS; i++) {
			const struct counters_place *at = &counters->places[place];

			if (at->fd[i] >= 0 && leader_of(at, i) < 0 &&
			    counters->os->ioctl(at->fd[i], request))
				return fail(error, "cannot switch %s %s: %s",
					    counter_names[i].name, what, strerror(errno));
		}
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

/* Adds what one place has counted. */
static int read_at(const struct counters *counters, const struct counters_place *place,
		   int counter, struct counters_result *result, struct counters_error *error)
{
	struct {
		uint64_t value, enabled, running;
	} data;
	ssize_t n = counters->os->read(place->fd[counter], &data, sizeof(data));
	const char *name = counter_names[counter].name;

	if (n < 0)
		return fail(error, "cannot read %s: %s", name, strerror(errno));
	if (n == 0) {
		snprintf(result->why_not, sizeof(result->why_not),
			 "the kernel gave the event up while it was counted");
		result->available = false;
		return 0;
	}
	if (n != sizeof(data))
		return fail(error, "cannot read %s: the kernel gave %zd bytes, not %zu", name, n,
			    sizeof(data));
	if (data.running < data.enabled) {
		fail(error, "%s was counted for %.1f %% of the time only: other programs "
		     "use the CPU's counters. End what else counts (another perf; the NMI watchdog, "
		     "`sysctl kernel.nmi_watchdog=0`), or name fewer events (--events; --groups says "
		     "which of them can be counted at once)",
		     name, 100 * (double)data.running / (double)data.enabled);
		error->kind = COUNTERS_TOO_MANY;
		return -1;
	}
	result->value += data.value;
	return 0;
}

int counters_read(const struct counters *counters, struct counters_result results[COUNTERS],
		  struct counters_error *error)
{
	for (int i = 0; i < COUNTERS; i++) {
		results[i] = (struct counters_result){ .available = is_open(counters, i) };
		memcpy(results[i].why_not, counters->why_not[i], sizeof(results[i].why_not));
	}
	for (size_t place = 0; place < counters->count; place++)
		for (int i = 0; i < COUNTERS; i++)
			if (counters->places[place].fd[i] >= 0 &&
			    read_at(counters, &counters->places[place], i, &results[i], error))
				return -1;
	return 0;
}

void counters_close(struct counters *counters)
{
	for (size_t place = 0; place < counters->count; place++)
		for (int i = 0; i < COUNTERS; i++)
			if (counters->places[place].fd[i] >= 0)
				counters->os->close(counters->places[place].fd[i]);
	free(counters->places);
	counters->places = NULL;
	counters->count = 0;
}
