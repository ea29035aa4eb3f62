// SPDX-License-Identifier: GPL-2.0
#include "probes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#define SYSTEM "fast_look_%d"

void probes_name(unsigned int probe, char *name, size_t size)
{
	snprintf(name, size, "lock%u", probe);
}

int probes_add(struct probes *p, char *text)
{
	const char *how = strsep(&text, ":");
	const char *lock = strsep(&text, ":");
	const char *offset = strsep(&text, ":");
	char *end;

	if (p->count == PROBES_MAX || !text || *text != '/' || !offset || !lock || *lock != '%' ||
	    (strcmp(how, "once") && strcmp(how, "each")))
		return -1;
	p->all[p->count] = (struct probe){
		.path = text,
		.offset = strtoull(offset, &end, 0),
		.lock = lock,
		.once = !strcmp(how, "once"),
	};
	if (*end || end == offset)
		return -1;
	p->count++;
	return 0;
}

static bool is_left(struct tracefs_dynevent *event)
{
	char *system = NULL;
	bool left;
	int pid;

	tracefs_dynevent_info(event, &system, NULL, NULL, NULL, NULL);
	left = system && sscanf(system, SYSTEM, &pid) == 1 && kill(pid, 0) && errno == ESRCH;
	free(system);
	return left;
}

/* They would slow down each program that has the function, until the next boot. */
static void tidy_up(void)
{
	struct tracefs_dynevent **all = tracefs_dynevent_get_all(TRACEFS_DYNEVENT_UPROBE, NULL);

	for (unsigned int i = 0; all && all[i]; i++)
		if (is_left(all[i]))
			tracefs_dynevent_destroy(all[i], true);
	if (all)
		tracefs_dynevent_list_free(all);
}

static struct tracefs_dynevent *make(const struct probes *p, unsigned int i)
{
	const struct probe *probe = &p->all[i];
	struct tracefs_dynevent *event;
	char name[16], lock[32];

	probes_name(i, name, sizeof(name));
	snprintf(lock, sizeof(lock), "lock=%s:u64", probe->lock);
	event = tracefs_uprobe_alloc(p->system, name, probe->path, probe->offset, lock);
	if (event && tracefs_dynevent_create(event)) {
		tracefs_dynevent_free(event);
		return NULL;
	}
	return event;
}

void probes_open(struct probes *p)
{
	snprintf(p->system, sizeof(p->system), SYSTEM, (int)getpid());
	tidy_up();
	for (unsigned int i = 0; i < p->count; i++)
		p->all[i].event = make(p, i);
}

void probes_close(struct probes *p)
{
	for (unsigned int i = 0; i < p->count; i++) {
		struct probe *probe = &p->all[i];

		if (!probe->event)
			continue;
		tracefs_dynevent_destroy(probe->event, true);
		tracefs_dynevent_free(probe->event);
		probe->event = NULL;
	}
}
