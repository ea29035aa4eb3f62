// SPDX-License-Identifier: LGPL-2.1-or-later
/* The dispatcher: objects at places, and the place of a task that uses them. */
#include "test_place.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "intervals_dispatch.h"
#include "test_allocation.h"
#include "test_child.h"

static ivl_runtime *runtime;
static ivl_objects *objects;

static void start(const char *machine, enum ivl_places_by places)
{
	struct ivl_config config;

	test_machine(machine);
	config = test_config(0);
	config.places = places;
	runtime = test_start(&config);
	objects = ivl_objects_create(runtime, 16);
	assert_non_null(objects);
}

static void stop(void)
{
	ivl_objects_destroy(objects);
	ivl_stop(runtime);
}

#define THREADS 2
#define ROUNDS 300
#define USES 200

static char memory[ROUNDS];

static void bind(unsigned int object, size_t bytes, unsigned int place)
{
	assert_int_equal(ivl_object_bind(objects, &memory[object], bytes,
					 ivl_place_at(runtime, place)), 0);
}

static const char *place_of(const char *used)
{
	const void *uses[100];
	const ivl_place *place;
	size_t count = 0;

	for (; *used; used++)
		uses[count++] = &memory[*used - 'a'];
	place = ivl_dispatch(objects, uses, count);
	return place ? ivl_place_name(place) : "none";
}

#define NO_LIMIT 77

/* Asking needs no memory. The first test, while this process has never asked. */
static int ask_without_memory(void)
{
	struct rlimit none = { 0, 0 };
	const void *uses[] = { memory };

	start("node:2 core:2 pu:1", IVL_PLACES_NUMA);
	if (setrlimit(RLIMIT_AS, &none))
		return EXIT_FAILURE;
	/* qemu-user ignores the limit: the loop below would take all memory. */
	if (mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return NO_LIMIT;
	for (size_t bytes = 1 << 16; bytes; bytes /= 2)
		while (malloc(bytes))
			;
	return ivl_dispatch(objects, uses, 1) || ivl_object_place(objects, memory);
}

TEST(asks_without_memory)
{
	int status;

	if (TEST_SANITIZED)
		test_leave_out("the sanitizers' own memory is beyond any limit");
	status = test_in_child(ask_without_memory());
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_LIMIT)
		test_leave_out("memory cannot be limited here");
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Objects that are bound on a machine, "a" first, and the places of tasks that use some. */
struct dispatch {
	const char *machine;
	enum ivl_places_by places;
	struct { size_t bytes; unsigned int place; } bound[5];	/* ended by 0 bytes */
	struct { const char *used, *place; } sent[11];		/* ended by NULL */
};

static const struct dispatch dispatches[] = {
	{ "node:2 core:2 pu:1", IVL_PLACES_NUMA,
	  { { 100, 0 }, { 60, 1 }, { 50, 1 }, { 100, 1 } },
	  { { "a", "numa-0" }, { "b", "numa-1" }, { "ab", "numa-0" }, { "abc", "numa-1" },
	    { "zab", "numa-0" },
	    /* Of equals the first. */
	    { "ad", "numa-0" }, { "da", "numa-1" }, { "zda", "numa-1" },
	    /* None is bound, none is used. */
	    { "xyz", "none" }, { "", "none" } } },
	/* The example of section 5.4.1: D_T x D_S. */
	{ "node:2 core:2 pu:1", IVL_PLACES_NUMA, { { 8, 0 }, { 8, 1 } },
	  { { "a", "numa-0" }, { "b", "numa-1" } } },
	/* First the node, then the place on it. */
	{ "node:2 l3:2 core:1 pu:1", IVL_PLACES_LLC, { { 60, 0 }, { 50, 1 }, { 100, 3 } },
	  { { "abc", "llc-0" }, { "bc", "llc-3" }, { "bab", "llc-1" } } },
	/* More places than one round looks at. */
	{ "node:70 core:1 pu:1", IVL_PLACES_NUMA, { { 60, 69 }, { 50, 40 }, { 60, 3 } },
	  { { "abc", "numa-69" }, { "cba", "numa-3" }, { "b", "numa-40" } } },
};

TEST(most_bytes)
{
	for (size_t i = 0; i < sizeof(dispatches) / sizeof(*dispatches); i++) {
		const struct dispatch *d = &dispatches[i];

		start(d->machine, d->places);
		for (unsigned int j = 0; d->bound[j].bytes; j++)
			bind(j, d->bound[j].bytes, d->bound[j].place);
		for (size_t j = 0; d->sent[j].used; j++)
			assert_string_equal(place_of(d->sent[j].used), d->sent[j].place);
		stop();
	}
}

TEST(bind)
{
	ivl_runtime *other;
	const ivl_place *inner;
	void *object;

	start("node:2 core:2 pu:1", IVL_PLACES_NUMA);
	inner = ivl_place_outer(ivl_place_at(runtime, 0));
	assert_non_null(inner);
	bind(0, 1, 1);
	assert_ptr_equal(ivl_object_place(objects, memory), ivl_place_at(runtime, 1));
	assert_int_equal(ivl_object_bind(objects, memory, 1, ivl_place_at(runtime, 0)), EEXIST);
	assert_int_equal(ivl_object_unbind(objects, memory), 0);
	assert_null(ivl_object_place(objects, memory));
	assert_int_equal(ivl_object_unbind(objects, memory), ENOENT);
	bind(0, 1, 0);

	assert_int_equal(ivl_object_bind(objects, NULL, 1, ivl_place_at(runtime, 0)), EINVAL);
	assert_int_equal(ivl_object_bind(objects, memory + 1, 0, ivl_place_at(runtime, 0)), EINVAL);
	assert_int_equal(ivl_object_bind(objects, memory + 1, 1, inner), EINVAL);
	assert_string_equal(ivl_last_error(), "machine: this runtime has no workers there");
	assert_int_equal(ivl_start(NULL, &other), 0);
	assert_int_equal(ivl_object_bind(objects, memory + 1, 1, ivl_place_at(other, 0)), EINVAL);
	ivl_stop(other);

	assert_null(ivl_object_alloc(objects, 1, NULL));
	assert_null(ivl_object_alloc(objects, 1, inner));
	assert_null(ivl_object_alloc(objects, 0, ivl_place_at(runtime, 0)));
	object = ivl_object_alloc(objects, 1000, ivl_place_at(runtime, 1));
	assert_non_null(object);
	assert_int_equal((uintptr_t)object % 128, 0);
	memset(object, 1, 1000);
	assert_ptr_equal(ivl_object_place(objects, object), ivl_place_at(runtime, 1));
	assert_int_equal(ivl_object_unbind(objects, object), 0);
	/* The set frees this one. */
	assert_non_null(ivl_object_alloc(objects, 1000, ivl_place_at(runtime, 1)));
	stop();
	ivl_objects_destroy(NULL);
}

/* On node 0, if the process may set a memory policy. */
static char *pages(size_t bytes)
{
	unsigned long node_0 = 1;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	/* Touching one must not touch its neighbour; without huge pages there is no need. */
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	syscall(SYS_mbind, memory, bytes, MPOL_BIND, &node_0, sizeof(node_0) * 8, 0);
	return memory;
}

/* At the node that the kernel reports. */
TEST(find)
{
	const size_t bytes = 3000 * 4096;
	char *touched = pages(bytes), *untouched = pages(bytes);
	const ivl_place *place;
	int error, node = -1;

	memset(touched, 1, bytes);
	error = ivl_node_of(touched, bytes, &node);
	if (error == EPERM || error == ENOSYS) {
		print_message("# the kernel does not say where pages are\n");
	} else {
		assert_int_equal(error, 0);
		assert_int_equal(node, 0);
		assert_int_equal(ivl_node_of(untouched, bytes, &node), ENOENT);

		start("node:1 l3:2 core:1 pu:1", IVL_PLACES_LLC);
		assert_int_equal(ivl_object_bind(objects, untouched, bytes, NULL), ENOENT);
		assert_int_equal(ivl_object_bind(objects, touched, bytes, NULL), 0);
		place = ivl_object_place(objects, touched);
		assert_int_equal(ivl_place_node(place), 0);
		/* They take turns. */
		assert_int_equal(ivl_object_bind(objects, touched + 5, 7, NULL), 0);
		assert_ptr_not_equal(ivl_object_place(objects, touched + 5), place);
		stop();

		start("node:1(indexes=7) core:1 pu:1", IVL_PLACES_NUMA);
		assert_int_equal(ivl_place_node(ivl_place_at(runtime, 0)), 7);
		assert_int_equal(ivl_object_bind(objects, touched, bytes, NULL), ENOENT);
		assert_string_equal(ivl_last_error(),
				    "the object is on node 0, which has no place");
		stop();
	}
	munmap(touched, bytes);
	munmap(untouched, bytes);
}

TEST(no_memory)
{
	start("node:2 core:2 pu:1", IVL_PLACES_NUMA);
	for (int i = 0; i < 2; i++) {
		test_allocations_left = i;
		assert_null(ivl_object_alloc(objects, 1, ivl_place_at(runtime, 0)));
	}
	test_allocations_left = 0;
	assert_int_equal(ivl_object_bind(objects, memory, 1, ivl_place_at(runtime, 0)), ENOMEM);
	assert_null(ivl_objects_create(runtime, 1));
	test_allocations_left = -1;
	stop();
}

/* Entries are used again, in other buckets; and more objects than buckets. */
TEST(many_objects)
{
	start("node:2 core:2 pu:1", IVL_PLACES_NUMA);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < ROUNDS; i++)
			bind((i * 7 + round) % ROUNDS, 1, i % 2);
		assert_int_equal(ivl_object_bind(objects, memory, 1, ivl_place_at(runtime, 0)),
				 EEXIST);
		for (unsigned int i = 0; i < ROUNDS; i++)
			assert_ptr_equal(ivl_object_place(objects, &memory[(i * 7 + round) % ROUNDS]),
					 ivl_place_at(runtime, i % 2));
		for (unsigned int i = 0; i < ROUNDS; i++)
			assert_int_equal(ivl_object_unbind(objects, &memory[i]), 0);
		assert_null(ivl_object_place(objects, memory));
	}
	bind(3, 1, 1);
	stop();
}

/* Foreign threads: one asks while two bind and unbind. */
static _Atomic bool over;

static void *asks(void *arg)
{
	const void *uses[USES] = { memory };

	/* The same one often, so that it is in use when it is unbound. */
	for (unsigned int i = 1; i < USES; i++)
		uses[i] = &memory[1];
	while (!atomic_load(&over)) {
		const ivl_place *place = ivl_dispatch(objects, uses, USES);

		/* Object 0, the heaviest, is always there. */
		if (place != ivl_place_at(runtime, 1))
			return "it went elsewhere";
	}
	return NULL;
}

static void *binds(void *arg)
{
	const time_t end = time(NULL) + 2;

	/* A grace period under this load takes 10 ms. */
	for (unsigned int i = 0; i < 3000 && time(NULL) <= end; i++) {
		int error = ivl_object_bind(objects, &memory[1], 1, ivl_place_at(runtime, i));
		char *own = ivl_object_alloc(objects, 64, ivl_place_at(runtime, 0));

		if ((error && error != EEXIST) || !own)
			return "bind failed";
		error = ivl_object_unbind(objects, &memory[1]);
		if ((error && error != ENOENT) || ivl_object_unbind(objects, own))
			return "unbind failed";
	}
	return arg;
}

TEST(threads)
{
	pthread_t askers[THREADS], binders[THREADS];
	void *message;

	start("node:2 core:2 pu:1", IVL_PLACES_NUMA);
	bind(0, 1000, 1);
	atomic_store(&over, false);
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_create(&askers[i], NULL, asks, NULL), 0);
		assert_int_equal(pthread_create(&binders[i], NULL, binds, NULL), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(binders[i], &message);
		assert_null(message);
	}
	atomic_store(&over, true);
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(askers[i], &message);
		assert_null(message);
	}
	stop();
}

/* Of several threads that unbind one object one succeeds. */
static void *unbinds(void *arg)
{
	unsigned int unbound = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(arg);
		unbound += !ivl_object_unbind(objects, &memory[i]);
		pthread_barrier_wait(arg);
	}
	return (void *)(uintptr_t)unbound;
}

TEST(unbind_once)
{
	pthread_barrier_t barrier;
	pthread_t threads[THREADS];
	uintptr_t unbound = 0;
	void *result;

	start("node:2 core:2 pu:1", IVL_PLACES_NUMA);
	for (unsigned int i = 0; i < ROUNDS; i++)
		bind(i, 1, i);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, unbinds, &barrier), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		unbound += (uintptr_t)result;
	}
	assert_int_equal(unbound, ROUNDS);
	pthread_barrier_destroy(&barrier);
	stop();
}

TEST_MAIN(NULL, NULL)
