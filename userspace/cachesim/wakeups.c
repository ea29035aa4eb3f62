// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE	/* tdestroy */
#include "wakeups.h"

#include <search.h>
#include <stdlib.h>

#include "array.h"
#include "cachesim.h"

struct task {
	uint64_t address;	/* first: what the tree is sorted by */
	struct task *next;	/* list of all, for freeing */
	uint64_t space;		/* of its program; 0: not seen in one */
	uint64_t woken_ns;
	bool woken;		/* and not on a CPU since */
	bool sleeps;
};

struct wakeup {
	const struct task *task;	/* whose program may show later */
	uint64_t ns;
};

struct wakeups {
	void *tree;		/* struct task by address, of those that exist */
	struct task *tasks;
	struct {
		struct task *task;	/* that it executes; NULL: no switch seen yet */
		bool returned;		/* to its program, since the switch */
	} cpus[CACHESIM_MAX_CPUS];
	struct wakeup *all;
	size_t n, room;
};

struct wakeups *wakeups_new(void)
{
	return calloc(1, sizeof(struct wakeups));
}

static void keep(void *task)
{
	(void)task;
}

void wakeups_free(struct wakeups *w)
{
	tdestroy(w->tree, keep);
	while (w->tasks) {
		struct task *task = w->tasks;

		w->tasks = task->next;
		free(task);
	}
	free(w->all);
	free(w);
}

void wakeups_begin(struct wakeups *w)
{
	w->n = 0;
	for (struct task *task = w->tasks; task; task = task->next)
		task->woken = false;
}

static int by_address(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* NULL without memory. */
static struct task *add_task(struct wakeups *w, uint64_t address)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->address = address;
	task->next = w->tasks;
	w->tasks = task;
	return task;
}

/* Its place in the tree, with a new one if there was none. NULL without memory. */
static struct task **place_of(struct wakeups *w, uint64_t address)
{
	struct task **place = tfind(&address, &w->tree, by_address);
	struct task *task;

	if (place)
		return place;
	task = add_task(w, address);
	return task ? tsearch(task, &w->tree, by_address) : NULL;
}

static struct task *task_at(struct wakeups *w, uint64_t address)
{
	struct task **place = place_of(w, address);

	return place ? *place : NULL;
}

int wakeups_new_task(struct wakeups *w, uint64_t task)
{
	struct task **place = place_of(w, task);
	struct task *added = place ? add_task(w, task) : NULL;

	if (!added)
		return -1;
	*place = added;
	return 0;
}

int wakeups_waking(struct wakeups *w, uint64_t task, uint64_t now_ns)
{
	struct task *woken = task_at(w, task);

	if (!woken)
		return -1;
	woken->woken = true;
	woken->woken_ns = now_ns;
	return 0;
}

int wakeups_sleeps(struct wakeups *w, uint64_t task)
{
	struct task *sleeper = task_at(w, task);

	if (!sleeper)
		return -1;
	sleeper->sleeps = true;
	return 0;
}

static void leaves(struct task *task)
{
	/* It was woken before it slept, and went on. */
	if (!task->sleeps)
		task->woken = false;
}

static int enters(struct wakeups *w, struct task *task, uint64_t now_ns)
{
	bool woken = task->woken;

	task->woken = false;
	task->sleeps = false;
	if (!woken)
		return 0;
	if (!ARRAY_GROW(w->all, w->n, w->room))
		return -1;
	w->all[w->n++] = (struct wakeup){ task, latency_between(task->woken_ns, now_ns) };
	return 0;
}

int wakeups_switch(struct wakeups *w, unsigned int cpu, uint64_t prev, uint64_t next,
		   uint64_t now_ns)
{
	struct task *from = task_at(w, prev), *to = task_at(w, next);

	if (!from || !to)
		return -1;
	leaves(from);
	w->cpus[cpu].task = to;
	w->cpus[cpu].returned = false;
	return enters(w, to, now_ns);
}

bool wakeups_expects_return(const struct wakeups *w, unsigned int cpu)
{
	return w->cpus[cpu].task && !w->cpus[cpu].returned;
}

void wakeups_return(struct wakeups *w, unsigned int cpu, uint64_t space)
{
	if (!wakeups_expects_return(w, cpu))
		return;
	w->cpus[cpu].task->space = space;
	w->cpus[cpu].returned = true;
}

int wakeups_latencies(const struct wakeups *w, uint64_t program, struct latencies *out)
{
	for (size_t i = 0; i < w->n; i++)
		if (program && w->all[i].task->space == program &&
		    latencies_add(out, w->all[i].ns))
			return -1;
	return 0;
}
