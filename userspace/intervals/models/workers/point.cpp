// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Points: each occurs once, after all its predecessors, and its successors see what was written
 * before. Intervals: none is used after it was freed.
 */
#define IVL_REFERENCES 2
#define IVL_CANCELS_KEPT 2
#include "relacy_worker.hpp"

#include "worker.c"
#include "deferred.c"
#include "mailbox.c"
#include "run_queue.c"
#include "switching.c"
#include "find.c"

/* The harness has that name. */
#define ivl_model ivl_intervals
#include "model.h"

/* Defects of point.c and interval.c. */

struct waiting {
	bool (*publish)(void *arg, struct ivl_waiter *waiter);
	void *arg;
};

static bool publish_anyway(void *arg, struct ivl_waiter *waiter)
{
	struct waiting *waiting = (struct waiting *)arg;

	return waiting->publish(waiting->arg, waiter) ||
	       ivl_has_defect("joiner waits for what has occurred");
}

static void wait_for(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct waiting waiting = { publish, arg };

	ivl_wait(publish_anyway, &waiting);
}

static void arrive_open(struct ivl_point *point, struct ivl_batch *batch)
{
	if (!ivl_has_defect("body's end counted without a read-modify-write")) {
		ivl_arrive_open(point, batch);
		return;
	}
	int32_t left = point->left.load(rl::mo_acquire, $) - (IVL_OPEN - point->expected);

	point->left.store(left, rl::mo_release, $);
	if (!left)
		ivl_batch_add(batch, ivl_interval_of(point));
}

/* Those that a worker gives back, and not yet has. */
static ivl_mortal<unsigned int> *owed_to;
static unsigned int owed;

static unsigned int subtract(ivl_mortal<unsigned int> *count, unsigned int references,
			     rl::memory_order order, rl::debug_info_param where)
{
	if (!ivl_has_defect("references given back after the arrival"))
		return count->fetch_sub(references, order, where);
	owed_to = count;
	owed = references;
	return 0;
}

static unsigned int subtract(ivl_mortal<unsigned int> *count, int one, rl::memory_order order,
			     rl::debug_info_param where)
{
	return count->fetch_sub(one, order, where);
}

static void arrive(struct ivl_point *point, int32_t count, struct ivl_batch *batch)
{
	ivl_mortal<unsigned int> *to = owed_to;

	owed_to = NULL;
	if (count > IVL_OPEN / 2 &&
	    ivl_has_defect("a part's interval scheduled as if it was alone"))
		ivl_arrive_open(point, batch);
	else
		ivl_arrive(point, count, batch);
	if (!to)
		return;
	/* The other threads need some time to end all. */
	for (int i = 0; i < 100; i++)
		rl::yield(1, $);
	to->fetch_sub(owed, rl::mo_acq_rel, $);
}

#include "order.c"
#define new first
#include "fault.c"
#undef new
#define ivl_wait wait_for
#undef atomic_exchange_explicit
#define atomic_exchange_explicit(object, value, ...)				\
	(ivl_has_defect("list closed without an exchange") ?			\
		 (object)->load_and_store(value) : (object)->exchange(value, __VA_ARGS__))
#include "point.c"
#undef ivl_wait
#undef atomic_exchange_explicit
#define atomic_exchange_explicit(object, value, ...) (object)->exchange(value, __VA_ARGS__)
#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(object, value, ...) subtract(object, value, __VA_ARGS__)
#define ivl_arrive arrive
#define ivl_arrive_open arrive_open
#include "settle.c"
#include "interval.c"
#include "enter.c"
#undef ivl_arrive
#undef ivl_arrive_open
#undef ivl_model

/* No model submits. */
void ivl_submitted_remove(ivl_runtime *) {}

/* No guards here, and no fork(). */
bool ivl_is_parents(const ivl_runtime *) { return false; }
bool ivl_take_guards(struct ivl_interval *) { return true; }
void ivl_leave_guards(struct ivl_interval *, struct ivl_batch *) {}
void ivl_free_holds(struct ivl_interval *) {}
/* Nothing asks what waits for what. */
void ivl_inspection_say(struct ivl_inspection *, const char *, ...) {}
bool ivl_describe_guard(const struct ivl_interval *, struct ivl_inspection *) { return true; }
const char *ivl_interval_name(const struct ivl_interval *) { return ""; }
int ivl_add_hold(struct ivl_interval *, struct ivl_guard *) { return 0; }

/* The memory of memory.c, each block of which is used once. */
template <typename T> class blocks {
public:
	T *get()
	{
		RL_ASSERT(used < MOST);
		return ::new (memory[used++]) T();
	}

	void put(T *block)
	{
		block->~T();
		memset((void *)block, 0xdd, sizeof(*block));
		back++;
	}

	bool all_back() const
	{
		return used == back;
	}

private:
	static const int MOST = 12;

	alignas(64) char memory[MOST][(sizeof(T) + 63) / 64 * 64];
	int used = 0, back = 0;
};

struct everything {
	ivl_model_machine machine;
	struct ivl_intervals intervals;
	blocks<struct ivl_interval> interval_blocks;
	blocks<struct ivl_edge> edge_blocks;

	everything(unsigned int workers) : machine(workers), intervals()
	{
		struct ivl_interval *root = &intervals.root;

		current = this;
		intervals.runtime = &machine.runtime;
		machine.runtime.model = &intervals;
		intervals.cancels.store(0, rl::mo_relaxed, $);
		for (auto &cancelled : intervals.cancelled)
			cancelled.store(0, rl::mo_relaxed, $);
		pthread_mutex_init(&intervals.lock, NULL);
		root->model = &intervals;
		root->jump = root;
		root->started = true;
		root->start.is_end = false;
		root->end.is_end = true;
		root->end.expected = 0;
		root->start.out.store(IVL_CLOSED, rl::mo_relaxed, $);
		root->end.left.store(IVL_OPEN, rl::mo_relaxed, $);
		root->end.out.store(NULL, rl::mo_relaxed, $);
		root->owner.store(NULL, rl::mo_relaxed, $);
		root->cancel.store(0, rl::mo_relaxed, $);
		root->cancel_around.store(0, rl::mo_relaxed, $);
		root->clean_at.store(0, rl::mo_relaxed, $);
		root->entered.store(false, rl::mo_relaxed, $);
		root->has_children.store(false, rl::mo_relaxed, $);
		root->refs.store(1, rl::mo_relaxed, $);
	}

	~everything()
	{
		pthread_mutex_destroy(&intervals.lock);
	}

	static inline everything *current;
};

struct ivl_interval *ivl_interval_get(struct ivl_intervals *)
{
	return everything::current->interval_blocks.get();
}

void ivl_interval_put(struct ivl_interval *interval)
{
	everything::current->interval_blocks.put(interval);
}

struct ivl_edge *ivl_edge_get(struct ivl_intervals *)
{
	return everything::current->edge_blocks.get();
}

void ivl_edge_put(struct ivl_intervals *, struct ivl_edge *edge)
{
	everything::current->edge_blocks.put(edge);
}

void **ivl_runtime_model(ivl_runtime *runtime)
{
	return &runtime->model;
}

/* A program: a foreign thread calls ivl_run(); what the body makes is the suite's. */
template <typename suite, int workers, int others = 0>
struct program : rl::test_suite<suite, workers + 1 + others> {
	static const int MOST = 5;
	static const int FAULT = 77;

	everything all;
	IVL_SHARED(int) written[MOST];
	IVL_SHARED(struct ivl_interval *) kept;
	bool fails;			/* the first interval */
	unsigned int ran;		/* a bit for each interval but the root */

	program() : all(workers) {}

	void before()
	{
		for (auto &w : written)
			w = 0;
		kept = NULL;
		fails = rl::rand(4) == 0;
		ran = 0;
	}

	void thread(unsigned int index)
	{
		int error;

		if (index < workers) {
			all.machine.work();
			return;
		}
		if (index > workers) {
			((suite *)this)->beside();
			return;
		}
		error = ivl_run(&all.machine.runtime, run_body, this);
		((suite *)this)->check(error);
		all.machine.stop();
	}

	void after()
	{
		RL_ASSERT(all.interval_blocks.all_back() && all.edge_blocks.all_back());
		RL_ASSERT(!owed_to);
	}

	/* The other threads. */
	void beside() {}

	static int run_body(ivl_interval *self, void *arg)
	{
		return ((suite *)arg)->body(self);
	}

	static suite *here()
	{
		return (suite *)((char *)everything::current - offsetof(program, all));
	}

	/* Something that happens, and whether it has. */
	static void write(int number)
	{
		here()->written[number] = number + 1;
		here()->ran |= 1 << number;
	}

	static bool has_written(int number)
	{
		return here()->written[number] == number + 1;
	}

	bool has_run(int number)
	{
		return ran & 1 << number;
	}

	static int first(ivl_interval *self, void *arg)
	{
		write(0);
		return here()->fails ? FAULT : 0;
	}
};

/* One may run or have run when it gets edges, and two to wait for it. */
template <int workers> struct late : program<late<workers>, workers, 1> {
	rl::atomic<ivl_interval *> handed;

	void before()
	{
		program<late<workers>, workers, 1>::before();
		handed.store(NULL, rl::mo_relaxed, $);
	}

	int body(ivl_interval *self)
	{
		ivl_interval *a = ivl_create(self, NULL, this->first, NULL, NULL), *b, *c;

		ivl_retain(a);
		handed.store(a, rl::mo_release, $);
		ivl_schedule();
		b = ivl_create(self, NULL, second, NULL, NULL);
		c = ivl_create(self, NULL, third, NULL, NULL);
		RL_ASSERT(!ivl_add_edge(ivl_end_point(a), ivl_start_point(b)));
		RL_ASSERT(!ivl_add_edge(ivl_end_point(a), ivl_start_point(c)));
		RL_ASSERT(!ivl_add_edge(ivl_end_point(b), ivl_start_point(c)));
		this->kept = b;
		ivl_release(c);
		if (rl::rand(2))
			ivl_schedule();
		RL_ASSERT(ivl_join(ivl_end_point(a)) == (this->fails ? late::FAULT : 0));
		RL_ASSERT(this->has_written(0));
		ivl_release(a);
		return 0;
	}

	static int second(ivl_interval *self, void *arg)
	{
		RL_ASSERT(late::has_written(0));
		late::write(1);
		return 0;
	}

	static int third(ivl_interval *self, void *arg)
	{
		RL_ASSERT(late::has_written(0) && late::has_written(1));
		late::write(2);
		return 0;
	}

	void beside()
	{
		ivl_interval *a;

		while (!(a = handed.load(rl::mo_acquire, $)))
			rl::yield(1, $);
		for (int i = rl::rand(100); i--;)
			rl::yield(1, $);
		RL_ASSERT(ivl_join(ivl_end_point(a)) == (this->fails ? late::FAULT : 0));
		RL_ASSERT(this->has_written(0));
		ivl_release(a);
	}

	void check(int error)
	{
		RL_ASSERT(error == (this->fails ? late::FAULT : 0));
		RL_ASSERT(ivl_occurred(ivl_end_point(this->kept)));
		ivl_release(this->kept);
		RL_ASSERT(this->has_run(1) == !this->fails && this->has_run(2) == !this->fails);
	}
};

/*
 * Children of one parent, which learns of their ends late. One is kept longer than the parent. One
 * runs a child inline, makes another child of its parent, and had a child before it began. `other`:
 * some work lasts until the program ends.
 */
template <int workers, bool other>
struct children : program<children<workers, other>, workers> {
	struct ivl_work last_long;
	ivl_interval *outer;
	bool ended;

	int body(ivl_interval *self)
	{
		ended = false;
		last_long.kind = &last_long_kind;
		if (other)
			ivl_make_ready(&this->all.machine.runtime, &last_long, NULL);
		outer = ivl_create(self, NULL, second, self, NULL);
		ivl_release(ivl_create(outer, NULL, fifth, NULL, NULL));
		this->kept = ivl_create(self, NULL, this->first, NULL, NULL);
		if (rl::rand(2))
			RL_ASSERT(!ivl_add_edge(ivl_end_point(this->kept), ivl_start_point(outer)));
		ivl_release(outer);
		return 0;
	}

	static int second(ivl_interval *self, void *parent)
	{
		ivl_release(ivl_create((ivl_interval *)parent, NULL, third, NULL, NULL));
		RL_ASSERT(!ivl_inline(NULL, fourth, NULL));
		RL_ASSERT(children::has_written(3));
		children::write(1);
		return 0;
	}

	static int third(ivl_interval *self, void *arg)
	{
		RL_ASSERT(children::has_written(1));
		children::write(2);
		return 0;
	}

	static int fourth(ivl_interval *self, void *arg)
	{
		children::write(3);
		return 0;
	}

	static int fifth(ivl_interval *self, void *arg)
	{
		/* The parent cannot have ended. */
		RL_ASSERT(ivl_occurred(ivl_start_point(children::here()->outer)));
		children::write(4);
		return 0;
	}

	static void run_long(struct ivl_work *)
	{
		while (!children::here()->ended)
			ivl_model_park(&children::here()->ended);
	}

	static inline const struct ivl_work_kind last_long_kind = { .run = run_long };

	void check(int error)
	{
		ivl_interval *kept = this->kept;

		ended = true;
		ivl_model_wake(&ended);
		RL_ASSERT(error == (this->fails ? children::FAULT : 0));
		RL_ASSERT(this->has_written(0));
		RL_ASSERT(ivl_occurred(ivl_end_point(ivl_parent(kept))));
		ivl_release(kept);
		for (int i = 0; !this->fails && i < this->MOST; i++)
			RL_ASSERT(this->has_written(i));
	}
};

/* Nested intervals, each the last child of its parent. */
template <int workers> struct nested : program<nested<workers>, workers> {
	int body(ivl_interval *self)
	{
		ivl_release(ivl_create(self, NULL, inside, this->written, NULL));
		return 0;
	}

	static int inside(ivl_interval *self, void *arg)
	{
		IVL_SHARED(int) *mine = (IVL_SHARED(int) *)arg;

		*mine = 1;
		if (mine < nested::here()->written + nested::MOST - 1)
			ivl_release(ivl_create(self, NULL, inside, mine + 1, NULL));
		return 0;
	}

	void check(int error)
	{
		for (auto &w : this->written)
			RL_ASSERT(w == 1);
	}
};

/* A part of the body, on its own fiber, makes and schedules intervals. */
template <int workers, bool schedules>
struct spawned : program<spawned<workers, schedules>, workers> {
	struct ivl_work part;
	ivl_interval *current;
	unsigned int made;
	int error;
	bool in_order;
	ivl_model_meeting over;

	int body(ivl_interval *self)
	{
		const unsigned int some = 1 + rl::rand(2);

		current = self;
		made = 0;
		part.kind = &part_kind;
		ivl_make_ready(&this->all.machine.runtime, &part, NULL);
		if (!schedules) {
			while (made < some)
				rl::yield(1, $);
			ivl_schedule();
		}
		over.wait();
		return 0;
	}

	static void run_part(struct ivl_work *)
	{
		spawned *all = spawned::here();
		ivl_interval *one, *next;

		ivl_local()->interval = all->current;
		one = ivl_create(all->current, NULL, all->first, NULL, NULL);
		all->made++;
		if (schedules) {
			ivl_schedule();
		} else {
			next = ivl_create(all->current, NULL, second, NULL, NULL);
			all->made++;
			/* The body may have scheduled it. */
			all->error = ivl_add_edge(ivl_end_point(one), ivl_start_point(next));
			RL_ASSERT(all->error == 0 || all->error == EALREADY);
			ivl_release(next);
		}
		ivl_release(one);
		all->over.come();
	}

	static inline const struct ivl_work_kind part_kind = { .run = run_part };

	static int second(ivl_interval *self, void *arg)
	{
		spawned::here()->in_order = spawned::here()->has_run(0);
		spawned::write(1);
		return 0;
	}

	void check(int error)
	{
		RL_ASSERT(error == (this->fails ? spawned::FAULT : 0));
		RL_ASSERT(this->has_written(0));
		if (schedules)
			return;
		if (this->error)
			RL_ASSERT(this->has_run(1) || this->fails);
		else
			RL_ASSERT(this->fails ? !this->has_run(1) : in_order);
	}
};

/*
 * Edges that close a cycle, added at the same time: one is refused. Each adder adds one, and the
 * first adds the rest.
 */
template <int count, int adding = count>
struct cycle : program<cycle<count, adding>, adding> {
	struct adder {
		struct ivl_work work;
		int number;
	} adders[count];
	ivl_interval *current, *made[count];
	int left, refused;
	ivl_model_meeting over;

	int body(ivl_interval *self)
	{
		this->fails = false;
		current = self;
		left = adding;
		refused = count;
		for (int i = 0; i < count; i++)
			adders[i] = { { &adder_kind }, i };
		ivl_make_ready(&this->all.machine.runtime, &adders[0].work, NULL);
		over.wait();
		return 0;
	}

	static void make(cycle *all)
	{
		for (int i = 0; i < count; i++)
			all->made[i] = ivl_create(all->current, NULL, run, &all->adders[i], NULL);
		for (int i = 1; i < adding; i++)
			ivl_make_ready(&all->all.machine.runtime, &all->adders[i].work, NULL);
	}

	static void add(cycle *all, int i)
	{
		int error = ivl_add_edge(ivl_end_point(all->made[i]),
					 ivl_start_point(all->made[(i + 1) % count]));

		RL_ASSERT(error == 0 || error == EDEADLK);
		if (error) {
			RL_ASSERT(all->refused == count);
			all->refused = i;
		}
	}

	static void run_adder(struct ivl_work *work)
	{
		const int first = ((adder *)work)->number;
		cycle *all = cycle::here();

		ivl_local()->interval = all->current;
		if (first == 0)
			make(all);
		add(all, first);
		for (int i = adding; first == 0 && i < count; i++)
			add(all, i);
		if (--all->left)
			return;
		RL_ASSERT(all->refused != count);
		for (auto interval : all->made)
			ivl_release(interval);
		all->over.come();
	}

	static inline const struct ivl_work_kind adder_kind = { .run = run_adder };

	static int run(ivl_interval *self, void *arg)
	{
		const int i = ((adder *)arg)->number, before = (i + count - 1) % count;

		RL_ASSERT(before == cycle::here()->refused || cycle::has_written(before));
		cycle::write(i);
		return 0;
	}

	void check(int error)
	{
		RL_ASSERT(!error);
		for (int i = 0; i < count; i++)
			RL_ASSERT(this->has_written(i));
	}
};

/* An edge from an interval without children, and an edge to a child made inside it. */
struct cycle_inside : program<cycle_inside, 2> {
	struct ivl_work away, inside;
	ivl_interval *current, *outer, *other, *between;
	int left, refused;
	rl::atomic<int> time;
	ivl_model_meeting over;

	int body(ivl_interval *self)
	{
		this->fails = false;
		time.store(0, rl::mo_relaxed, $);
		current = self;
		left = 2;
		refused = 0;
		away.kind = &away_kind;
		inside.kind = &inside_kind;
		ivl_make_ready(&this->all.machine.runtime, &away, NULL);
		over.wait();
		return 0;
	}

	static void add(cycle_inside *all, ivl_interval *from, ivl_interval *to)
	{
		int error = ivl_add_edge(ivl_end_point(from), ivl_start_point(to));

		RL_ASSERT(error == 0 || error == EDEADLK);
		all->refused += error != 0;
		if (--all->left)
			return;
		RL_ASSERT(all->refused == 1);
		ivl_release(all->outer);
		ivl_release(all->other);
		ivl_release(all->between);
		all->over.come();
	}

	static void run_away(struct ivl_work *)
	{
		cycle_inside *all = here();

		ivl_local()->interval = all->current;
		all->outer = ivl_create(all->current, NULL, NULL, NULL, NULL);
		all->other = ivl_create(all->current, NULL, NULL, NULL, NULL);
		all->between = ivl_create(all->current, NULL, NULL, NULL, NULL);
		RL_ASSERT(!ivl_add_edge(ivl_end_point(all->other), ivl_start_point(all->between)));
		ivl_make_ready(&all->all.machine.runtime, &all->inside, NULL);
		/* Not rl::yield(): after it a load no longer returns old values. */
		for (int i = rl::rand(200); i--;)
			all->time.load(rl::mo_relaxed, $);
		add(all, all->outer, all->other);
	}

	static inline const struct ivl_work_kind away_kind = { .run = run_away };

	static void run_inside(struct ivl_work *)
	{
		cycle_inside *all = here();
		ivl_interval *made;

		ivl_local()->interval = all->current;
		made = ivl_create(all->outer, NULL, NULL, NULL, NULL);
		add(all, all->between, made);
		ivl_release(made);
	}

	static inline const struct ivl_work_kind inside_kind = { .run = run_inside };

	void check(int error)
	{
		RL_ASSERT(!error);
	}
};

/*
 * One interval begins while an ancestor is cancelled, one after that: not their parent, which both
 * read, but the parent's parent.
 */
struct cancelled : program<cancelled, 2> {
	int body(ivl_interval *self)
	{
		ivl_interval *outer = ivl_create(self, NULL, NULL, NULL, NULL);
		ivl_interval *parent = ivl_create(outer, NULL, NULL, NULL, NULL);
		ivl_interval *after = ivl_create(parent, NULL, second, NULL, NULL);
		ivl_interval *canceller = ivl_create(self, NULL, cancel, outer, NULL);

		ivl_release(ivl_create(parent, NULL, this->first, NULL, NULL));
		RL_ASSERT(!ivl_add_edge(ivl_end_point(canceller), ivl_start_point(after)));
		ivl_release(parent);
		ivl_release(canceller);
		ivl_release(after);
		this->kept = outer;
		return 0;
	}

	static int cancel(ivl_interval *self, void *outer)
	{
		ivl_cancel((ivl_interval *)outer);
		return 0;
	}

	static int second(ivl_interval *self, void *arg)
	{
		write(1);
		return 0;
	}

	void check(int error)
	{
		RL_ASSERT(!has_run(1));
		ivl_release(this->kept);
	}
};

int main(int argc, char **argv)
{
	return ivl_model<late<2>, spawned<2, false>, children<1, true>, children<2, false>,
			 cycle<3>, cycle<4, 2>, cycle_inside, cancelled, spawned<2, true>,
			 nested<2>>::main(
		argc, argv,
		{ "counts kept while other work runs", "counts kept while there is no work",
		  "joiner waits for what has occurred",
		  "body's end counted without a read-modify-write",
		  "references given back after the arrival",
		  "a part's interval scheduled as if it was alone",
		  "list closed without an exchange" },
		/*
		 * In relacy a store that a load has read completes before what follows. The end of
		 * the runtime is not modelled here (protocols/submitters.cpp).
		 */
		{ "ivl_adopt acquire relaxed", "enter acquire relaxed",
		  "ivl_submit_end release relaxed" });
}
