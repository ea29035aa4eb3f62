/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SCHED_FAST_POLICY_H
#define _SCHED_FAST_POLICY_H

/*
 * What FAST takes for a lock, and when it gathers the threads of one: functions
 * of a few numbers, that read no clock, no task and no run queue. What includes
 * this has u32, u64 and bool.
 *
 * A hand-off is a wake-up of one thread by another of its process. A lock group
 * is threads that hand over to each other, whatever the words that they wait at.
 */

/*
 * Wake-ups of one in a row that are hand-offs, at most; a barrier's are more. In a
 * row there is less time between them, for a lock to be taken and released.
 */
#define FAST_ROW	2
#define FAST_ROW_NS	2000ULL
/* The groups of a process. */
#define FAST_GROUPS	16
/* The hand-offs of a trial, and the first ones at home, which preempt. */
#define FAST_TRIAL	32
/* A trial is void if fewer hand-offs than one in eight changed the CPU. */
#define FAST_REMOTE	8
/* On one CPU this part of what hand-offs take in the kernel is left, */
#define FAST_KERNEL	8
/* this part of calls that many share: they wait for each other there, too, */
#define FAST_CALLED	2
/* and at least this part of what threads do otherwise, or of a section. */
#define FAST_WARM	3
/* How long a group stays at home, and without a hand-off. */
#define FAST_HOME_NS	200000000ULL
#define FAST_LAPSE_NS	(FAST_HOME_NS / 10)
/* A trial in vain is followed by a back-off of at most 2^FAST_BACKOFF trials. */
#define FAST_BACKOFF	6

/* What threads have used: outside futex calls, in them, and in those that many share. */
struct fast_times {
	u64	user;
	u64	kernel;
	u64	called;		/* the call woke many, or ended with such a wake-up */
};

/* What a thread knows of itself. Times are of CPU time unless they say otherwise. */
struct fast_thread {
	u64	woke;		/* when, in wall time, it was done with its last wake-up */
	u64	mark;		/* when it last entered or left a futex call */
	struct fast_times	times;	/* what its group has not heard of yet */
	u64	delay;		/* waited on run queues, at the beginning of the trial */
	u32	group;		/* fast_group.id, 0: none */
	u32	trial;		/* that it told of itself last */
	u32	row;		/* how many it woke, one a call, with nothing in between */
	u32	caller;		/* rows to come in which it hands nothing over */
	bool	cold;		/* what it was handed another CPU has used last */
	bool	by_many;	/* its waker woke more threads by the call */
	bool	preempts;	/* its waker, by the hand-off that is under way */
};

/* What a trial has seen so far. */
struct fast_trial {
	u32	handoffs;
	u32	remote;		/* of these changed the CPU */
	u32	colds;		/* sections that began so, and what they took */
	u32	threads;	/* that told of themselves */
	u64	cold;
	u64	delay;		/* that these threads waited on run queues */
	u64	begun;		/* in wall time */
	struct fast_times	times;
};

/* A lock group. Times are of wall time. */
struct fast_group {
	u32	id;		/* its place in the process and its age, 0: none */
	u32	trials;
	bool	sure;		/* the last trial spoke for one CPU, */
	u32	vain;		/* or these in a row, against it */
	u32	home;		/* CPU + 1, 0: none */
	u64	until;		/* the end of its stay at home, or of its back-off */
	u64	last;		/* hand-off */
	struct fast_trial	trial;
};

/**
 * fast_hands_over - is this wake-up a hand-off?
 * @t: the waker
 * @woken: how many it woke in one call, however many it asked for
 * @now: the time
 *
 * A waker of many in a row, one call each, tells them something, as the barriers
 * of some runtimes do. If it does so once, it does so again, from the first one on,
 * though a row be cut in pieces, or threads do not sleep yet: for four times as many
 * rows as it woke threads in that one.
 */
static inline bool fast_hands_over(struct fast_thread *t, u32 woken, u64 now)
{
	if (now - t->woke > FAST_ROW_NS) {
		if (t->row > FAST_ROW)
			t->caller = 4 * t->row;
		else if (t->caller)
			t->caller--;
		t->row = 0;
	}
	if (woken != 1)
		return false;
	t->row++;

	return t->row <= FAST_ROW && !t->caller;
}

/**
 * fast_enter - a thread enters a futex call
 * @t: the thread
 * @g: its group, or NULL
 * @run: its CPU time
 * @wakes: it wakes, and does not wait
 */
static inline void fast_enter(struct fast_thread *t, struct fast_group *g, u64 run, bool wakes)
{
	u64 ran = run - t->mark;

	if (t->mark && run > t->mark) {
		t->times.user += ran;
		if (t->cold && wakes && g) {
			g->trial.cold += ran;
			g->trial.colds++;
		}
	}
	t->cold = false;
	t->mark = run;
}

/**
 * fast_leave - a thread leaves a futex call
 * @t: the thread
 * @run: its CPU time
 * @many: the call woke many
 */
static inline void fast_leave(struct fast_thread *t, u64 run, bool many)
{
	if (t->mark && run > t->mark) {
		if (many || t->by_many)
			t->times.called += run - t->mark;
		else
			t->times.kernel += run - t->mark;
	}
	t->by_many = false;
	t->mark = run;
}

/**
 * fast_tell - a thread tells its group what it has used in this trial
 * @t: the thread
 * @g: its group
 * @now: the time
 * @delay: how long it has waited on run queues so far
 *
 * What it did before the trial began is not of it.
 */
static inline void fast_tell(struct fast_thread *t, struct fast_group *g, u64 now, u64 delay)
{
	struct fast_trial *trial = &g->trial;
	u64 most = now - trial->begun;

	if (!trial->handoffs || g->home)
		return;
	if (t->trial != g->trials) {
		t->trial = g->trials;
		t->delay = delay;
		trial->threads++;
	}
	trial->times.user += t->times.user < most ? t->times.user : most;
	trial->times.kernel += t->times.kernel < most ? t->times.kernel : most;
	trial->times.called += t->times.called < most ? t->times.called : most;
	trial->delay += delay - t->delay;
	t->delay = delay;
	t->times = (struct fast_times){ };
}

/**
 * fast_join - waker and woken are of one group from now on
 * @groups: the groups of their process
 * @waker: the one thread
 * @woken: the other
 *
 * If they are of two, that of the lower id goes on, and its trial begins anew;
 * the other's threads follow by their own hand-offs.
 *
 * Return: the group.
 */
static inline struct fast_group *
fast_join(struct fast_group *groups, struct fast_thread *waker, struct fast_thread *woken)
{
	struct fast_group *a = &groups[waker->group % FAST_GROUPS];
	struct fast_group *b = &groups[woken->group % FAST_GROUPS];
	u32 i, oldest, id;

	if (!waker->group || a->id != waker->group)
		a = NULL;
	if (!woken->group || b->id != woken->group)
		b = NULL;
	if (a && b && a != b) {
		if (b->id < a->id)
			a = b;
		a->trial.handoffs = 0;
	} else if (!a) {
		a = b;
	}
	if (!a) {
		/* A new one, in the place of that which has been silent longest. */
		for (i = 1, oldest = 0; i < FAST_GROUPS; i++) {
			if (groups[i].last < groups[oldest].last)
				oldest = i;
		}
		a = &groups[oldest];
		id = (a->id / FAST_GROUPS + 1) * FAST_GROUPS + oldest;
		*a = (struct fast_group){ .id = id };
	}
	waker->group = a->id;
	woken->group = a->id;

	return a;
}

/* Does a thread no longer belong to a group: a caller, or one long after its last hand-off? */
static inline bool fast_strays(const struct fast_thread *t, const struct fast_group *g, u64 now)
{
	return !g->home && (t->caller || now - g->last > FAST_LAPSE_NS);
}

/**
 * fast_alone - how long a trial would have taken on one CPU
 * @trial: which is over
 *
 * All that its threads did one after the other, less what they fetched: no other
 * CPU has what a lock protects, a section is as if handed over at home, and what
 * runs on one CPU hardly ever finds the lock taken. What waits for many waits there,
 * too, but wakes no other CPU.
 */
static inline u64 fast_alone(const struct fast_trial *trial)
{
	u64 fetched = trial->colds ?
		      FAST_WARM * trial->cold / trial->colds * trial->handoffs : 0;
	u64 user = trial->times.user, least = user / FAST_WARM;

	user = user > fetched + least ? user - fetched : least;

	return user + trial->times.kernel / FAST_KERNEL + trial->times.called / FAST_CALLED;
}

/*
 * How long it took, less what other work took from its threads, of each the same:
 * what they waited on run queues longer than each for all the group has run.
 */
static inline u64 fast_took(const struct fast_trial *trial, u64 now)
{
	u64 wall = now - trial->begun, foreign = 0;
	u64 own = trial->times.user + trial->times.kernel + trial->times.called;

	if (trial->threads && trial->delay > own * (trial->threads - 1))
		foreign = (trial->delay - own * (trial->threads - 1)) / trial->threads;

	return wall > foreign ? wall - foreign : 0;
}

/* The trial is over: is the group to gather? If it saves half the time, or again says so. */
static inline bool fast_judge(struct fast_group *g, u64 now)
{
	struct fast_trial *trial = &g->trial;
	u64 alone = fast_alone(trial), took = fast_took(trial, now);
	bool again = g->sure;

	g->sure = trial->remote * FAST_REMOTE >= trial->handoffs && alone < took;
	if (g->sure) {
		g->vain = 0;
		return again || alone * 2 < took;
	}
	g->until = now + ((now - trial->begun) << g->vain);
	if (g->vain < FAST_BACKOFF)
		g->vain++;

	return false;
}

/**
 * fast_handoff - a hand-off within a group
 * @g: the group
 * @t: the thread that is woken
 * @remote: woken and waker last ran on different CPUs
 * @now: the time
 *
 * The first ones at home preempt their waker. A lock that is handed to the first of
 * a queue stays taken, until the thread runs, for all that come meanwhile: without
 * that a queue that formed on several CPUs would never end on one.
 *
 * Return: whether the group is to gather: fast_go_home() is the answer.
 */
static inline bool fast_handoff(struct fast_group *g, struct fast_thread *t, bool remote, u64 now)
{
	bool gather;

	g->last = now;
	if (g->home) {
		t->preempts = g->trial.handoffs < FAST_TRIAL;
		g->trial.handoffs++;
		return false;
	}
	t->cold = remote;
	if (now < g->until)
		return false;
	if (!g->trial.handoffs) {
		g->trial = (struct fast_trial){ .begun = now };
		g->trials++;
	}
	g->trial.remote += remote;
	if (++g->trial.handoffs < FAST_TRIAL)
		return false;
	gather = fast_judge(g, now);
	g->trial.handoffs = 0;

	return gather;
}

static inline void fast_go_home(struct fast_group *g, u32 cpu, u64 now)
{
	g->home = cpu + 1;
	g->until = now + FAST_HOME_NS;
}

/* The stay at home is over, or no hand-off has been seen for too long. */
static inline bool fast_lapses(const struct fast_group *g, u64 now)
{
	return g->home && (now > g->until || now - g->last > FAST_LAPSE_NS);
}

/* The group is no longer: its threads find new ones by what they do now. */
static inline void fast_leave_home(struct fast_group *g)
{
	*g = (struct fast_group){ .id = g->id + FAST_GROUPS, .last = g->last };
}

/**
 * fast_cpu_before - is this CPU the better home?
 * @homes: how many groups are at home on the core of the one
 * @load: the tasks that it has to run
 * @other_homes: the same of the other
 * @other_load: and of what runs there
 */
static inline bool fast_cpu_before(u32 homes, u32 load, u32 other_homes, u32 other_load)
{
	return homes != other_homes ? homes < other_homes : load < other_load;
}

#endif /* _SCHED_FAST_POLICY_H */
