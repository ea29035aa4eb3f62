// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What programs of other compilers than GCC 12 ask for, by name and version: later ones, and those
 * before GCC 4.4.
 */
#include <limits.h>

#include "../../tests/test.h"
#include "check.h"

static void *named(const char *name, const char *version)
{
	void *found = dlvsym(RTLD_DEFAULT, name, version);

	if (!found)
		fprintf(stderr, "no %s@%s\n", name, version);
	CHECK(found);
	return found;
}

TEST(is_explicit)
{
	int (*const in_explicit_task)(void) = named("omp_in_explicit_task", "OMP_5.2");
	atomic_int tasks = 0;

	CHECK(!in_explicit_task());
#pragma omp task if(0)
	CHECK(in_explicit_task());
	for (int i = 0; i < 100; i++) {
#pragma omp parallel
		{
			CHECK(!in_explicit_task());
#pragma omp single
			{
				CHECK(!in_explicit_task());
#pragma omp task
				{
					CHECK(in_explicit_task());
					atomic_fetch_add(&tasks, 1);
#pragma omp parallel num_threads(2)
					CHECK(!in_explicit_task());
#pragma omp target
					CHECK(!in_explicit_task());
					CHECK(in_explicit_task());
				}
#pragma omp task final(1)
				{
#pragma omp task
					CHECK(in_explicit_task());
				}
#pragma omp taskloop
				for (int j = 0; j < 4; j++)
					CHECK(in_explicit_task());
				CHECK(!in_explicit_task());
			}
			CHECK(!in_explicit_task());
		}
	}
	CHECK(tasks == 100);
}

/* An empty task between writers and readers, which its creator does not wait for. */
TEST(waits_no_longer)
{
	void (*const wait_nowait)(void **depend) =
		named("GOMP_taskwait_depend_nowait", "GOMP_5.1.1");

	for (int i = 0; i < 100; i++) {
		int first = 0, second = 0, third = 0;
		omp_event_handle_t event;

#pragma omp parallel
#pragma omp single
		{
			/* Two, of which the first is written. */
			void *depend[] = { (void *)2, (void *)1, &second, &first };

#pragma omp task depend(out : first) shared(first) detach(event)
			first = 1;
			wait_nowait(depend);
#pragma omp task depend(in : second) shared(first, third)
			third = first + 1;
			/* Otherwise no thread would get here. */
			omp_fulfill_event(event);
#pragma omp taskwait
			CHECK(third == 2);
		}
	}
}

TEST(memory)
{
	void *(*const mapped)(const void *, int) = named("omp_get_mapped_ptr", "OMP_5.1.1");
	int (*const accessible)(const void *, size_t, int) =
		named("omp_target_is_accessible", "OMP_5.1.1");
	void *(*const set)(void *, int, size_t, int) = named("omp_target_memset", "GOMP_6.0.1");
	void *(*const map_function)(void *) =
		named("GOMP_target_map_indirect_ptr", "GOMP_5.1.2");
	char text[] = "abcdef";

	for (int device = -6; device < 4; device++) {
		/* The last is omp_default_device. */
		const int is_host = device == 0 || device == -1 || device == -5;

		CHECK(mapped(text, device) == (is_host ? text : NULL));
		CHECK(accessible(text, sizeof(text), device) == is_host);
	}
	omp_set_default_device(2);
	CHECK(!mapped(text, -5));
	omp_set_default_device(0);
	CHECK(!mapped(NULL, 0) && !accessible(NULL, 1, 0) && !accessible(text, 0, 0));
	CHECK(set(text, 'x', 3, omp_get_initial_device()) == text && !strcmp(text, "xxxdef"));
	CHECK(map_function((void *)named) == (void *)named);
}

TEST(copies_later)
{
	int (*const copy)(void *, const void *, size_t, size_t, size_t, int, int, int,
			  omp_depend_t *) = named("omp_target_memcpy_async", "OMP_5.1.1");
	int (*const copy_rect)(void *, const void *, size_t, int, const size_t *, const size_t *,
			       const size_t *, const size_t *, const size_t *, int, int, int,
			       omp_depend_t *) = named("omp_target_memcpy_rect_async", "OMP_5.1.1");
	void *(*const set)(void *, int, size_t, int, int, omp_depend_t *) =
		named("omp_target_memset_async", "GOMP_6.0.1");

	CHECK(copy_rect(NULL, NULL, 1, 1, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, NULL) == INT_MAX);
	for (int i = 0; i < 100; i++) {
		int from[4] = { 0 }, to[4] = { 0 }, square[2][2] = { { 0 } };
		char text[] = "abcdef";

#pragma omp parallel
#pragma omp single
		{
			size_t volume[] = { 2, 1 }, at[] = { 0, 1 }, none[] = { 0, 0 };
			size_t sizes[] = { 2, 2 };
			omp_depend_t read, written;

#pragma omp depobj(read) depend(in : from)
#pragma omp depobj(written) depend(out : to)
#pragma omp task depend(out : from) shared(from)
			for (int j = 0; j < 4; j++)
				from[j] = j + 1;
			CHECK(copy(to, from, 2 * sizeof(int), sizeof(int), 0, 0, 0, 2,
				   (omp_depend_t[]){ read, written }) == 0);
			CHECK(copy_rect(square, from, sizeof(int), 2, volume, at, none, sizes,
					sizes, 0, 0, 1, &read) == 0);
			/* They are the tasks' own by now. */
			memset(volume, 0, sizeof(volume));
			memset(sizes, 0, sizeof(sizes));
			CHECK(set(text, 'y', 2, 0, 0, NULL) == text);
			CHECK(copy(to, from, 4, 0, 0, 7, 0, 0, NULL) == EINVAL);
#pragma omp task depend(in : to) shared(to)
			CHECK(to[0] == 0 && to[1] == 1 && to[2] == 2 && to[3] == 0);
#pragma omp taskwait
			CHECK(square[0][0] == 0 && square[0][1] == 1);
			CHECK(square[1][0] == 0 && square[1][1] == 3);
			CHECK(!strcmp(text, "yycdef"));
#pragma omp depobj(read) destroy
#pragma omp depobj(written) destroy
		}
	}
}

TEST(names)
{
	const char *(*const uid)(int) = named("omp_get_uid_from_device", "GOMP_6.0");
	int (*const device)(const char *) = named("omp_get_device_from_uid", "GOMP_6.0");

	CHECK(!strcmp(uid(0), "OMP_INITIAL_DEVICE") && !strcmp(uid(-1), "OMP_INITIAL_DEVICE"));
	CHECK(!uid(1) && !uid(-3));
	CHECK(device("OMP_INITIAL_DEVICE") == -1 && device("GPU-0") == -4 && device(NULL) == -4);
}

/* The host has no object, and that says so. */
TEST(interop)
{
	void (*const begin)(int, int, uintptr_t **, const void *, const void *, int, uintptr_t **,
			    int, uintptr_t **, unsigned int, void **) =
		named("GOMP_interop", "GOMP_5.1.3");
	intptr_t (*const get)(uintptr_t, int, int *) = named("omp_get_interop_int", "GOMP_5.1.3");
	void *(*const pointer)(uintptr_t, int, int *) = named("omp_get_interop_ptr", "GOMP_5.1.3");
	const char *(*const string)(uintptr_t, int, int *) =
		named("omp_get_interop_str", "GOMP_5.1.3");
	const char *(*const name)(uintptr_t, int) = named("omp_get_interop_name", "GOMP_5.1.3");
	const char *(*const type)(uintptr_t, int) =
		named("omp_get_interop_type_desc", "GOMP_5.1.3");
	const char *(*const meaning)(uintptr_t, int) =
		named("omp_get_interop_rc_desc", "GOMP_5.1.3");
	int (*const count)(uintptr_t) = named("omp_get_num_interop_properties", "GOMP_5.1.3");
	uintptr_t object = 5, other = 6, *made[] = { &object }, *ended[] = { &other };

	begin(-1, 1, made, NULL, NULL, 0, NULL, 1, ended, 0, NULL);
	CHECK(!object && !other && count(object) == 0);
	for (int property = -11; property < 2; property++) {
		const int wanted = property < 0 && property > -10 ? -1 : -2;
		int codes[3] = { 9, 9, 9 };

		CHECK(!get(object, property, &codes[0]) && !pointer(object, property, &codes[1]));
		CHECK(!string(object, property, &codes[2]) && !type(object, property));
		CHECK(codes[0] == wanted && codes[1] == wanted && codes[2] == wanted);
		CHECK(!get(object, property, NULL));
		CHECK(!name(object, property) == (wanted == -2));
	}
	CHECK(!strcmp(name(object, -1), "fr_id") && !strcmp(name(object, -9), "targetsync"));
	for (int code = -8; code < 4; code++)
		CHECK(!meaning(object, code) == (code < -5 || code > 1));
	CHECK(strstr(meaning(object, -1), "omp_interop_none"));
}

TEST(allocated)
{
	void (*const add)(void *) = named("GOMP_add_alloc", "GOMP_5.1.2");
	_Bool (*const is)(void *) = named("GOMP_is_alloc", "GOMP_5.1.2");

#pragma omp parallel
	{
		char mine[100];

		for (int i = 0; i < 100; i++) {
			CHECK(!is(&mine[i]));
			add(&mine[i]);
			add(&mine[i]);
		}
		for (int i = 99; i >= 0; i--) {
			CHECK(is(&mine[i]));
			CHECK(!is(&mine[i]));
		}
	}
}

/* The locks of OpenMP 2.5; a nested one is a thread's, in whatever task. */
TEST(old_locks)
{
	void (*const init)(int *) = named("omp_init_lock", "OMP_1.0");
	void (*const set)(int *) = named("omp_set_lock", "OMP_1.0");
	void (*const unset)(int *) = named("omp_unset_lock", "OMP_1.0");
	int (*const test)(int *) = named("omp_test_lock", "OMP_1.0");
	void (*const destroy)(int *) = named("omp_destroy_lock", "OMP_1.0");
	void (*const init_nest)(int *) = named("omp_init_nest_lock", "OMP_1.0");
	void (*const set_nest)(int *) = named("omp_set_nest_lock", "OMP_1.0");
	void (*const unset_nest)(int *) = named("omp_unset_nest_lock", "OMP_1.0");
	int (*const test_nest)(int *) = named("omp_test_nest_lock", "OMP_1.0");
	void (*const destroy_nest)(int *) = named("omp_destroy_nest_lock", "OMP_1.0");
	/* The third is behind the eight bytes that a program has for a nested lock. */
	int simple = 5, nested[3] = { 5, 5, 1234 }, sum = 0, other = 0;

	CHECK((void *)set != (void *)omp_set_lock);
	init(&simple);
	init_nest(nested);
	CHECK(test(&simple) && !test(&simple));
	unset(&simple);
#pragma omp parallel
	for (int i = 0; i < 1000; i++) {
		set(&simple);
		sum++;
		unset(&simple);
		set_nest(nested);
		CHECK(test_nest(nested) == 2);
		set_nest(nested);
#pragma omp task if(0)
		CHECK(test_nest(nested) == 4);
		unset_nest(nested);
		unset_nest(nested);
		other++;
		unset_nest(nested);
		unset_nest(nested);
		if (test_nest(nested)) {
			other++;
			unset_nest(nested);
		} else {
			set_nest(nested);
			other++;
			unset_nest(nested);
		}
	}
	CHECK(sum == 1000 * omp_get_max_threads() && other == 2 * sum);
	CHECK(!nested[0] && !nested[1] && nested[2] == 1234);
	destroy(&simple);
	destroy_nest(nested);
}

/* What gfortran calls; text comes back as an address and a length. */
TEST(fortran)
{
	static const char *const locks[] = {
		"omp_init_lock", "omp_set_lock", "omp_unset_lock", "omp_test_lock",
		"omp_destroy_lock", "omp_init_nest_lock", "omp_set_nest_lock",
		"omp_unset_nest_lock", "omp_test_nest_lock", "omp_destroy_nest_lock",
	};
	int (*const explicit)(void) = named("omp_in_explicit_task_", "OMP_5.2");
	int (*const device)(const char *, size_t) = named("omp_get_device_from_uid_", "GOMP_6.0");
	void (*const uid)(char **, size_t *, int) = named("omp_get_uid_from_device_", "GOMP_6.0");
	void (*const uid_8)(char **, size_t *, int64_t) =
		named("omp_get_uid_from_device_8_", "GOMP_6.0");
	void (*const string)(char **, size_t *, uintptr_t, int, int *) =
		named("omp_get_interop_str_", "GOMP_5.1.3");
	void (*const name)(char **, size_t *, uintptr_t, int) =
		named("omp_get_interop_name_", "GOMP_5.1.3");
	void (*const type)(char **, size_t *, uintptr_t, int) =
		named("omp_get_interop_type_desc_", "GOMP_5.1.3");
	void (*const meaning)(char **, size_t *, uintptr_t, int) =
		named("omp_get_interop_rc_desc_", "GOMP_5.1.3");
	char *text = "";
	size_t length = 7;
	int code = 9;

	CHECK(!explicit());
#pragma omp task if(0)
	CHECK(explicit());
	CHECK(device("OMP_INITIAL_DEVICE and more", 18) == -1);
	CHECK(device("OMP_INITIAL_DEVICE and more", 17) == -4);
	uid(&text, &length, 0);
	CHECK(length == 18 && !memcmp(text, "OMP_INITIAL_DEVICE", 18));
	uid_8(&text, &length, (int64_t)1 << 32);
	CHECK(!text && length == 0);
	uid_8(&text, &length, -1);
	CHECK(length == 18 && !memcmp(text, "OMP_INITIAL_DEVICE", 18));
	string(&text, &length, 0, -1, &code);
	CHECK(!text && length == 0 && code == -1);
	string(&text, &length, 0, -1, NULL);
	name(&text, &length, 0, -1);
	CHECK(length == 5 && !memcmp(text, "fr_id", 5));
	type(&text, &length, 0, -1);
	CHECK(!text && length == 0);
	meaning(&text, &length, 0, -1);
	CHECK(text && length == strlen(text));
	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++) {
		char underscored[32];

		snprintf(underscored, sizeof(underscored), "%s_", locks[i]);
		CHECK(named(underscored, "OMP_1.0") == named(locks[i], "OMP_1.0"));
	}
}

TEST_MAIN(NULL, NULL)
