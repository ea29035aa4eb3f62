// SPDX-License-Identifier: GPL-2.0
/* Of which calls the stack is kept. */
#include "test_machine.h"

#include <linux/futex.h>

#include "call_sites.h"

#define PROGRAM 0x1000ull
#define CHILD 0x2000ull
#define LOCK 0x404040ull

static struct call_site *call(struct call_sites *c, uint64_t space, uint64_t address, uint64_t op,
			      uint64_t value)
{
	const uint64_t arguments[] = { address, op, value };
	struct call_site *site;

	assert_int_equal(call_sites_call(c, space, 202, arguments, &site), 0);
	return site;
}

TEST(the_1st_4th_and_16th_call_of_each_kind_are_kept)
{
	struct futexes *f = futexes_new(FUTEXES_OWN);
	struct call_sites *c = call_sites_new(f);
	const struct call_site *all;
	size_t n;

	futexes_begin(f, PROGRAM);
	for (int i = 1; i <= 63; i++) {
		struct call_site *wait = call(c, PROGRAM, LOCK, FUTEX_WAIT, 2);
		struct call_site *release = call(c, PROGRAM, LOCK, FUTEX_WAKE, 1);

		assert_int_equal(!!wait, i == 1 || i == 4 || i == 16);
		assert_int_equal(!!release, !!wait);
		if (release)
			release->pc = i;
	}
	assert_non_null(call(c, PROGRAM, LOCK + 4, FUTEX_WAIT_BITSET, 2));
	all = call_sites_all(c, &n);
	assert_int_equal(n, 7);
	assert_false(all[0].releases);
	assert_true(all[5].releases);
	assert_int_equal(all[5].pc, 16);
	assert_int_equal(all[5].address, LOCK);
	assert_int_equal(all[6].address, LOCK + 4);
	call_sites_begin(c);
	call_sites_all(c, &n);
	assert_int_equal(n, 0);
	call_sites_free(c);
	futexes_free(f);
}

TEST(other_calls_and_other_programs_are_not)
{
	const uint64_t arguments[] = { LOCK, FUTEX_WAIT, 2 };
	struct futexes *f = futexes_new(FUTEXES_OWN);
	struct call_sites *c = call_sites_new(f);
	struct call_site *site;
	size_t n;

	futexes_begin(f, PROGRAM);
	assert_null(call(c, CHILD, LOCK, FUTEX_WAIT, 2));
	assert_null(call(c, PROGRAM, LOCK, FUTEX_WAKE, 2));
	assert_int_equal(call_sites_call(c, PROGRAM, 1, arguments, &site), 0);
	assert_null(site);
	/* They are no futexes of which there is something to tell, either. */
	futexes_all(f, &n);
	assert_int_equal(n, 0);
	call_sites_free(c);
	futexes_free(f);
}

TEST(many_are_kept)
{
	struct futexes *f = futexes_new(FUTEXES_OWN);
	struct call_sites *c = call_sites_new(f);
	size_t n;

	futexes_begin(f, PROGRAM);
	for (uint64_t i = 0; i < 100; i++)
		call(c, PROGRAM, LOCK + 4 * i, FUTEX_WAIT, 2)->pc = i;
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(call_sites_all(c, &n)[i].pc, i);
	assert_int_equal(n, 100);
	call_sites_free(c);
	futexes_free(f);
}

RUN_TESTS(NULL, NULL)
