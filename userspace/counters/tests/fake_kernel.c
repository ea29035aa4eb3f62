// SPDX-License-Identifier: GPL-2.0
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>

#define FAKE_FD 100
#define PROBE_FD 99

struct fake_kernel fake;
struct events fake_events;

static unsigned int place_of(pid_t pid, int cpu)
{
	if (cpu < 0) {
		assert_int_equal(pid, FAKE_PID);
		return 0;
	}
	assert_int_equal(pid, -1);
	assert_in_range(cpu, 0, FAKE_PLACES - 2);
	return (unsigned int)cpu + 1;
}

static struct fake_event *event_of(int fd)
{
	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_PLACES * COUNTERS - 1);
	fd -= FAKE_FD;
	assert_true(fake.event[fd / COUNTERS][fd % COUNTERS].open);
	return &fake.event[fd / COUNTERS][fd % COUNTERS];
}

/* The hardware events of the group with this leader. */
static unsigned int members(unsigned int place, int leader)
{
	unsigned int count = 0;

	for (int i = 0; i < HARDWARE_COUNTERS; i++) {
		const struct fake_event *event = &fake.event[place][i];

		count += event->open && (event->group == leader ||
					 event_of(leader) == event);
	}
	return count;
}

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	int counter = (int)attr->config;
	unsigned int place;

	if (attr->type == PERF_TYPE_HARDWARE) {
		assert_int_equal(attr->config, PERF_COUNT_HW_CPU_CYCLES);
		errno = fake.probe_errno;
		if (errno)
			return -1;
		fake.probes_open++;
		return PROBE_FD;
	}
	place = place_of(pid, cpu);
	errno = fake.open_errno[counter];
	if (!errno && group >= 0 && members(place, group) >= fake.slots)
		errno = EINVAL;
	if (errno)
		return -1;
	assert_false(fake.event[place][counter].open);
	fake.event[place][counter] = (struct fake_event){
		.attr = *attr, .pid = pid, .cpu = cpu, .group = group, .open = true,
		.on = !attr->disabled,
	};
	return FAKE_FD + (int)place * COUNTERS + counter;
}

/* Other programs hold the counters that its group needs. */
static bool starved(unsigned int place, int fd)
{
	const struct fake_event *event = event_of(fd);

	return event->attr.config < HARDWARE_COUNTERS && fake.taken &&
	       members(place, event->group >= 0 ? event->group : fd) + fake.taken > fake.slots;
}

static ssize_t fake_read(int fd, void *buffer, size_t size)
{
	static const uint64_t never[3] = { 0, 1000, 0 };
	int counter = (int)event_of(fd)->attr.config;
	unsigned int place = (unsigned int)(fd - FAKE_FD) / COUNTERS;
	const uint64_t *data = starved(place, fd) ? never : fake.data[place][counter];

	errno = fake.read_errno[counter];
	if (errno)
		return -1;
	assert_int_equal(size, sizeof(never));
	memcpy(buffer, data, (size_t)fake.read_size[counter]);
	return fake.read_size[counter];
}

static int fake_ioctl(int fd, unsigned long request)
{
	struct fake_event *event = event_of(fd);

	errno = fake.ioctl_errno[event->attr.config];
	if (errno)
		return -1;
	assert_true(request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE);
	event->on = request == PERF_EVENT_IOC_ENABLE;
	fake.switches++;
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

	fake = (struct fake_kernel){ .paranoid = -1, .slots = HARDWARE_COUNTERS };
	fake_events = (struct events){ .cpu = "fake" };
	for (int i = 0; i < COUNTERS; i++) {
		snprintf(names[i], sizeof(names[i]), "fake::%s", counter_names[i].name);
		fake_events.of[i].name = names[i];
		fake_events.of[i].attr.type = PERF_TYPE_RAW;
		fake_events.of[i].attr.config = (uint64_t)i;
		fake.read_size[i] = sizeof(fake.data[0][i]);
	}
}

bool fake_counts(int place, int counter)
{
	const struct fake_event *event = &fake.event[place][counter];

	return event->open && event->on && (event->group < 0 || event_of(event->group)->on);
}

unsigned int fake_open_events(void)
{
	unsigned int set = 0;

	for (int place = 0; place < FAKE_PLACES; place++)
		for (int i = 0; i < COUNTERS; i++)
			if (fake.event[place][i].open)
				set |= COUNTER_BIT(i);
	return set;
}
