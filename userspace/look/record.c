// SPDX-License-Identifier: GPL-2.0
#include "record.h"

#include <ctype.h>
#include <dirent.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STRINGIFY(x) #x
#define TEXT(x) STRINGIFY(x)
#define FUTEX_CALLS "id == " TEXT(SYS_futex)

enum kind {
	ENTER,
	LEAVE,
	WAKING,
	THREAD,
	EXIT,
	KINDS,	/* a probe is KINDS and its number */
};

static const struct source {
	const char *system, *name, *filter;
	const char *first, *second;	/* fields */
} sources[KINDS] = {
	/* Unlike syscalls:sys_enter_futex every kernel has them that traces anything. */
	[ENTER] = { "raw_syscalls", "sys_enter", FUTEX_CALLS, "args", NULL },
	[LEAVE] = { "raw_syscalls", "sys_exit", FUTEX_CALLS, "ret", NULL },
	[WAKING] = { "sched", "sched_waking", NULL, "pid", NULL },
	[THREAD] = { "task", "task_newtask", NULL, "pid", "clone_flags" },
	[EXIT] = { "sched", "sched_process_exit", NULL, "pid", NULL },
};

/* An enabled event, and where its fields are. */
struct format {
	int id;
	unsigned int kind;
	const struct tep_format_field *thread, *first, *second;
};

struct event {
	uint64_t ns;
	int cpu;
	unsigned int kind;
	pid_t tid;
	struct waits_call call;		/* ENTER */
	uint64_t first, second;		/* of any other kind: its fields */
};

uint64_t record_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool enable(struct record *r, unsigned int kind, const struct source *source)
{
	struct format *format = &r->formats[r->format_count];
	struct tep_event *event;

	if (!follow_enable(&r->follow, source->system, source->name, source->filter))
		return false;
	event = tep_find_event_by_name(r->follow.formats, source->system, source->name);
	*format = (struct format){
		.id = event->id,
		.kind = kind,
		.thread = tep_find_common_field(event, "common_pid"),
		.first = tep_find_field(event, source->first),
		.second = source->second ? tep_find_field(event, source->second) : NULL,
	};
	if (!format->thread || !format->first || !format->second != !source->second)
		return instance_give_up(&r->follow.instance, "tracefs: the kernel's event %s:%s "
					"lacks a field", source->system, source->name);
	r->format_count++;
	return true;
}

static bool enable_all(struct record *r)
{
	char name[16];

	for (unsigned int kind = 0; kind < KINDS; kind++)
		if (!enable(r, kind, &sources[kind]))
			return false;
	for (unsigned int i = 0; i < r->probes->count; i++) {
		const struct source source = { r->probes->system, name, NULL, "lock", NULL };

		probes_name(i, name, sizeof(name));
		/* Refused, as in a file system without memory maps: then the lock is not told. */
		if (r->probes->all[i].event && !enable(r, KINDS + i, &source))
			r->follow.instance.why_not[0] = '\0';
	}
	return true;
}

/* The threads that are there already. */
static void know_threads(struct waits *waits, pid_t pid)
{
	char path[32];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	directory = opendir(path);
	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			waits_thread(waits, atoi(entry->d_name), pid, 0);
	closedir(directory);
}

bool record_open(struct record *r, pid_t pid, struct waits *waits, struct probes *probes)
{
	*r = (struct record){ .waits = waits, .probes = probes };
	if (!follow_open(&r->follow, "fast-look", pid))
		return false;
	probes_open(probes);
	r->formats = calloc(KINDS + PROBES_MAX, sizeof(*r->formats));
	if (r->formats ? enable_all(r) : instance_give_up(&r->follow.instance, "no memory")) {
		know_threads(waits, pid);
		return true;
	}
	record_close(r);
	return false;
}

void record_close(struct record *r)
{
	/* A probe that is enabled cannot be removed. */
	follow_close(&r->follow);
	if (r->probes)
		probes_close(r->probes);
	free(r->formats);
	free(r->events);
	r->formats = NULL;
	r->events = NULL;
}

bool record_begin(struct record *r)
{
	r->begun = record_now_ns();
	return instance_record(&r->follow.instance, true);
}

static uint64_t number(const struct tep_format_field *field, const void *data, int index)
{
	const char *at = (const char *)data + field->offset;
	uint32_t half;
	uint64_t whole;

	if (field->size == sizeof(half)) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&whole, at + index * (int)sizeof(whole), sizeof(whole));
	return whole;
}

static struct event *add_event(struct record *r)
{
	if (r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 4096;
		struct event *events = reallocarray(r->events, room, sizeof(*events));

		if (!events)
			return NULL;
		r->events = events;
		r->room = room;
	}
	return &r->events[r->count++];
}

static const struct format *format_of(const struct record *r, int id)
{
	for (unsigned int i = 0; i < r->format_count; i++)
		if (r->formats[i].id == id)
			return &r->formats[i];
	return NULL;
}

static int take(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	struct record *r = context;
	const struct format *format = format_of(r, event->id);
	struct event *e = format ? add_event(r) : NULL;
	const void *data = record->data;

	if (!format)
		return 0;
	if (!e)
		return -1;
	*e = (struct event){
		.ns = record->ts,
		.cpu = cpu,
		.kind = format->kind,
		.tid = (pid_t)number(format->thread, data, 0),
		.first = number(format->first, data, 0),
		.second = format->second ? number(format->second, data, 0) : 0,
	};
	if (e->kind == ENTER)
		e->call = (struct waits_call){
			.address = e->first,
			.operation = (uint32_t)number(format->first, data, 1),
			.value = (uint32_t)number(format->first, data, 2),
		};
	return 0;
}

static void count(struct record *r, const struct event *e)
{
	struct waits *w = r->waits;
	pid_t process;

	switch (e->kind) {
	case ENTER:
		waits_enter(w, e->tid, e->cpu, e->ns, &e->call);
		break;
	case LEAVE:
		waits_leave(w, e->tid, e->cpu, e->ns, (int64_t)e->first);
		break;
	case WAKING:
		waits_waking(w, e->tid, (pid_t)e->first);
		break;
	case THREAD:
		process = e->second & CLONE_THREAD ? waits_process(w, e->tid) : 0;
		waits_thread(w, (pid_t)e->first, process ?: (pid_t)e->first, e->ns);
		break;
	case EXIT:
		waits_exit(w, e->tid, e->ns);
		break;
	default:
		waits_probe(w, e->tid, (int)(e->kind - KINDS), e->first,
			    r->probes->all[e->kind - KINDS].once);
	}
}

/* A full buffer takes no event more, so the last of its CPU is from then. */
static uint64_t end_of_whole(const struct record *r, uint64_t end)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		uint64_t last = r->begun;

		if (!instance_lost(&r->follow.instance, cpu))
			continue;
		for (size_t i = 0; i < r->count; i++)
			if (r->events[i].cpu == cpu)
				last = r->events[i].ns;
		end = last < end ? last : end;
	}
	return end;
}

bool record_end(struct record *r)
{
	uint64_t end = record_now_ns();
	size_t i = 0;

	instance_record(&r->follow.instance, false);
	r->count = 0;
	if (!follow_read(&r->follow, take, r))
		return false;
	end = end_of_whole(r, end);
	waits_begin(r->waits, r->begun);
	for (; i < r->count && r->events[i].ns <= end; i++)
		count(r, &r->events[i]);
	waits_end(r->waits, end);
	r->recorded += r->count;
	r->lost += r->count - i;
	r->stretches++;
	if (r->waits->out_of_memory)
		return instance_give_up(&r->follow.instance, "no memory for what threads wait for");
	return true;
}
