// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A finish: it ends once, after all its asyncs. The code after it sees their writes, and no thread
 * touches it any more.
 */
#define IVL_AHEAD 2
#include "relacy_worker.hpp"

/* In finish.c only: the spawner that an ending async gets back. */
static struct ivl_work *take(struct ivl_worker *worker)
{
	struct ivl_work *work = ivl_take(worker);

	if (work && work->kind->spawner &&
	    ivl_has_defect("spawner known by its address"))
		((struct ivl_task *)work)->context[1] = worker->fiber;
	return work;
}

#include "worker.c"
#include "deferred.c"
#include "mailbox.c"
#include "run_queue.c"
#include "switching.c"
#include "find.c"
#undef atomic_exchange_explicit
#define atomic_exchange_explicit(object, value, ...)				\
	(ivl_has_defect("ends marked without an exchange") ?			\
		 (object)->load_and_store(value) : (object)->exchange(value, __VA_ARGS__))
#define ivl_take take
#include "async.c"
#undef ivl_take
#include "finish.c"

/* Nothing asks what waits for what. */
void ivl_inspection_say(struct ivl_inspection *, const char *, ...) {}

/* In groups only. */
void ivl_retain(ivl_interval *) {}
void ivl_release(ivl_interval *) {}
void ivl_outlast(ivl_interval *) {}

/* How asyncs are spawned. */
enum way { WORK_FIRST, HELP_FIRST, EITHER };

/* What an async does. */
enum inside {
	LEAF,
	ASYNC,			/* another async of the same finish */
	FINISH,			/* a finish with an async of its own */
	INSIDE,			/* another async of it, from an interval that ends before */
	MEET,			/* the first waits for the second, the second for their spawner */
};

/* Variants. */
enum special {
	NOTHING,
	OTHER_WORK,		/* there is some, that lasts until the last finish has ended */
};

/* `turns` finishes, one after the other and so at the same address. */
template <int workers, way spawns, inside what, int CHILDREN = 2, int turns = 1,
	  special with = NOTHING>
struct finish : rl::test_suite<finish<workers, spawns, what, CHILDREN, turns, with>, workers> {
	static const int ASYNCS = what == ASYNC || what == FINISH || what == INSIDE ? 2 * CHILDREN : CHILDREN;

	struct child {
		finish *all;
		int number;
		inside does;
	};

	ivl_model_machine machine;
	struct ivl_work program, beside;
	/* Of intervals only the addresses. */
	char around, inner[CHILDREN];
	IVL_SHARED(int) written[ASYNCS];
	ivl_model_meeting met[CHILDREN];
	int turn;
	bool ended;

	finish() : machine(workers) {}

	void before()
	{
		for (auto &w : written)
			w = 0;
		program.kind = &program_kind;
		beside.kind = &beside_kind;
		ended = false;
	}

	void thread(unsigned int index)
	{
		if (index == 0)
			ivl_make_ready(&machine.runtime, &program, NULL);
		machine.work();
	}

	void after()
	{
		RL_ASSERT(turn == turns);
	}

	static finish *here()
	{
		return (finish *)((char *)ivl_model_machine::current - offsetof(finish, machine));
	}

	static void spawn(finish *all, int number, inside does)
	{
		struct child child = { all, number, does };

		const bool help_first = spawns == HELP_FIRST || (spawns == EITHER && rl::rand(2));

		RL_ASSERT(!ivl_async_by(help_first ? IVL_HELP_FIRST : IVL_WORK_FIRST, run_child,
					&child, sizeof(child), NULL));
	}

	static void spawn_one(void *arg)
	{
		struct child *outer = (struct child *)arg;

		spawn(outer->all, outer->number + CHILDREN, LEAF);
	}

	static void spawn_inside(struct child *outer)
	{
		struct child child = { outer->all, outer->number + CHILDREN, LEAF };
		struct ivl_local *local = ivl_local(), own = *local;

		local->interval = (ivl_interval *)&outer->all->inner[outer->number];
		local->finish = NULL;
		RL_ASSERT(!ivl_group_async_by((struct ivl_group *)own.finish,
					      rl::rand(2) ? IVL_HELP_FIRST : IVL_WORK_FIRST,
					      run_child, &child, sizeof(child), NULL));
		*ivl_local() = own;
	}

	static void run_child(void *arg)
	{
		struct child *child = (struct child *)arg;
		finish *all = child->all;

		RL_ASSERT((char *)ivl_local()->interval == &all->around);
		if (child->does == INSIDE)
			spawn_inside(child);
		if (with == OTHER_WORK && child->number == 0)
			ivl_make_ready(&all->machine.runtime, &all->beside, NULL);
		if (child->does == ASYNC)
			spawn_one(child);
		if (child->does == FINISH) {
			ivl_finish(spawn_one, child);
			RL_ASSERT(all->written[child->number + CHILDREN] == all->turn);
		}
		if (child->does == MEET) {
			if (child->number)
				all->met[0].come();
			all->met[child->number].wait();
		}
		all->written[child->number] = all->turn;
	}

	static void spawn_all(void *arg)
	{
		finish *all = (finish *)arg;

		for (int i = 0; i < CHILDREN; i++)
			spawn(all, i, what);
		if (what == MEET)
			all->met[1].come();
	}

	static void run_program(struct ivl_work *)
	{
		finish *all = here();

		ivl_local()->interval = (ivl_interval *)&all->around;
		for (all->turn = 1; all->turn <= turns; all->turn++) {
			ivl_finish(spawn_all, all);
			for (int i = 0; i < ASYNCS; i++)
				RL_ASSERT(all->written[i] == all->turn);
		}
		all->turn--;
		all->ended = true;
		ivl_model_wake(&all->ended);
		all->machine.stop();
	}

	static void run_beside(struct ivl_work *)
	{
		while (!here()->ended)
			ivl_model_park(&here()->ended);
	}

	static inline const struct ivl_work_kind program_kind = { .run = run_program };
	static inline const struct ivl_work_kind beside_kind = { .run = run_beside };
};

int main(int argc, char **argv)
{
	return ivl_model<finish<2, WORK_FIRST, LEAF, 2, 2>, finish<2, HELP_FIRST, LEAF, 2, 2>,
			 finish<3, EITHER, ASYNC>, finish<2, EITHER, FINISH>, finish<2, EITHER, INSIDE>,
			 finish<2, EITHER, MEET>, finish<1, HELP_FIRST, ASYNC, 3>,
			 finish<2, EITHER, ASYNC, 2, 1, OTHER_WORK>>::main(
		argc, argv,
		{ "counts kept while other work runs", "counts kept while there is no work",
		  "ends marked without an exchange", "spawner known by its address" });
}
