// SPDX-License-Identifier: GPL-2.0
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>

#define FAKE_FD 100
#define PROBE_FD 99

struct fake_kernel fake;
struct events fake_events;

static int fake_open(struct perf_event_attr *attr, pid_t pid, int group)
{
	int counter = (int)attr->config;

	if (pid != FAKE_PID) {
		assert_int_equal(attr->type, PERF_TYPE_HARDWARE);
		assert_int_equal(attr->config, PERF_COUNT_HW_CPU_CYCLES);
		errno = fake.probe_errno;
		if (errno)
			return -1;
		fake.probes_open++;
		return PROBE_FD;
	}
	errno = fake.open_errno[counter];
	if (errno)
		return -1;
	assert_false(fake.event[counter].open);
	fake.event[counter] = (struct fake_event){
		.attr = *attr, .pid = pid, .group = group, .open = true,
	};
	return FAKE_FD + counter;
}

static struct fake_event *event_of(int fd)
{
	assert_in_range(fd, FAKE_FD, FAKE_FD + COUNTERS - 1);
	assert_true(fake.event[fd - FAKE_FD].open);
	return &fake.event[fd - FAKE_FD];
}

static ssize_t fake_read(int fd, void *buffer, size_t size)
{
	int counter = (int)(event_of(fd) - fake.event);

	errno = fake.read_errno[counter];
	if (errno)
		return -1;
	assert_int_equal(size, sizeof(fake.data[counter]));
	memcpy(buffer, fake.data[counter], (size_t)fake.read_size[counter]);
	return fake.read_size[counter];
}

static int fake_ioctl(int fd, unsigned long request)
{
	struct fake_event *event = event_of(fd);

	errno = fake.ioctl_errno[event - fake.event];
	if (errno)
		return -1;
	assert_true(request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE);
	event->on = request == PERF_EVENT_IOC_ENABLE;
	return 0;
}

static int fake_close(int fd)
{
	if (fd == PROBE_FD)
		fake.probes_open--;
	else
		event_of(fd)->open = false;
	return 0;
}

static int fake_paranoid(void)
{
	return fake.paranoid;
}

static bool fake_hybrid(void)
{
	return fake.hybrid;
}

const struct counters_os fake_os = {
	.open = fake_open,
	.read = fake_read,
	.ioctl = fake_ioctl,
	.close = fake_close,
	.paranoid = fake_paranoid,
	.hybrid = fake_hybrid,
};

void fake_reset(void)
{
	static char names[COUNTERS][32];

	fake = (struct fake_kernel){ .paranoid = 1 };
	fake_events = (struct events){ .cpu = "fake" };
	for (int i = 0; i < COUNTERS; i++) {
		snprintf(names[i], sizeof(names[i]), "fake::%s", counter_names[i].name);
		fake_events.of[i].name = names[i];
		fake_events.of[i].attr.type = PERF_TYPE_RAW;
		fake_events.of[i].attr.config = (uint64_t)i;
		fake.read_size[i] = sizeof(fake.data[i]);
	}
}

unsigned int fake_open_events(void)
{
	unsigned int set = 0;

	for (int i = 0; i < COUNTERS; i++)
		if (fake.event[i].open)
			set |= COUNTER_BIT(i);
	return set;
}
