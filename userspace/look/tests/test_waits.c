// SPDX-License-Identifier: GPL-2.0
#include <linux/futex.h>

#include "unit.h"
#include "waits.h"

enum { A = 100, B = 101, C = 102, STRANGER = 200, PROCESS = 100, WORD = 0x1000, LOCK = 0x5000 };
enum { WAIT = FUTEX_WAIT_PRIVATE, WAKE = FUTEX_WAKE_PRIVATE };

static struct waits w;

SET_UP
{
	if (waits_open(&w))
		return -1;
	waits_begin(&w, 1000);
	waits_thread(&w, A, PROCESS, 0);
	waits_thread(&w, B, PROCESS, 0);
	waits_thread(&w, C, PROCESS, 0);
	return 0;
}

TEAR_DOWN
{
	waits_close(&w);
	return 0;
}

static void enter(pid_t tid, int cpu, uint64_t ns, uint64_t address, uint32_t operation,
		  uint32_t value)
{
	const struct waits_call call = { address, operation, value };

	waits_enter(&w, tid, cpu, ns, &call);
}

/* `tid` waits for the word on CPU 1 from `ns` on. */
static void begin_wait(pid_t tid, uint64_t ns, uint64_t address)
{
	enter(tid, 1, ns, address, WAIT, 2);
}

/* `by` wakes `tid` on CPU 0, in 20 ns. */
static void wake(pid_t by, pid_t tid, uint64_t ns, uint64_t address)
{
	enter(by, 0, ns, address, WAKE, 1);
	waits_waking(&w, by, tid);
	waits_leave(&w, by, 0, ns + 20, 1);
}

static struct waits_word *word_at(uint64_t address)
{
	for (struct waits_word *word = w.words; word; word = word->next)
		if (word->address == address)
			return word;
	return NULL;
}

static struct waits_part *part_of(struct waits_word *word, pid_t tid)
{
	for (struct waits_part *part = word->parts; part; part = part->next)
		if (part->tid == tid)
			return part;
	return NULL;
}

FIXTURE_TEST(a_handoff)
{
	struct waits_word *word;

	begin_wait(B, 1100, WORD);
	wake(A, B, 1200, WORD);
	waits_leave(&w, B, 1, 1250, 0);
	waits_end(&w, 2000);
	word = word_at(WORD);
	assert_non_null(word);
	assert_int_equal(word->waits, 1);
	assert_int_equal(word->wakes, 1);
	assert_int_equal(word->ones, 1);
	assert_int_equal(word->taken, 1);
	assert_int_equal(word->remote, 1);
	assert_int_equal(word->moved, 0);
	assert_int_equal(word->in_vain, 0);
	assert_int_equal(word->handoff_ns, 50);
	assert_int_equal(word->forms, WAITS_PLAIN);
	assert_int_equal(part_of(word, B)->wait_ns, 150);
	assert_int_equal(part_of(word, A)->wakes, 1);
	assert_int_equal(waits_lived_ns(&w, B), 1000);
	assert_int_equal(w.recorded_ns, 1000);
}

FIXTURE_TEST(a_handoff_that_moves_the_thread)
{
	begin_wait(B, 1100, WORD);
	wake(A, B, 1200, WORD);
	waits_leave(&w, B, 0, 1250, 0);
	assert_int_equal(word_at(WORD)->remote, 0);
	assert_int_equal(word_at(WORD)->moved, 1);
}

FIXTURE_TEST(a_woken_thread_that_waits_again_came_in_vain)
{
	begin_wait(B, 1100, WORD);
	wake(A, B, 1200, WORD);
	waits_leave(&w, B, 1, 1250, 0);
	begin_wait(B, 1260, WORD);
	assert_int_equal(word_at(WORD)->in_vain, 1);
	/* Not if it has released the lock meanwhile. */
	wake(A, B, 1300, WORD);
	waits_leave(&w, B, 1, 1350, 0);
	wake(B, C, 1400, WORD);
	begin_wait(B, 1460, WORD);
	assert_int_equal(word_at(WORD)->in_vain, 1);
}

/* The value has changed, a signal came, or the time is over. */
FIXTURE_TEST(a_wait_without_a_wake_is_no_handoff)
{
	begin_wait(B, 1100, WORD);
	waits_leave(&w, B, 1, 1110, -11);
	enter(A, 0, 1200, WORD, WAKE, 1);
	waits_leave(&w, A, 0, 1210, 0);
	assert_int_equal(word_at(WORD)->wakes, 0);
	assert_int_equal(word_at(WORD)->taken, 0);
	assert_int_equal(part_of(word_at(WORD), B)->wait_ns, 10);
}

/* An interrupt in A's call wakes C, which waits for another word. */
FIXTURE_TEST(another_wakeup_within_the_call)
{
	begin_wait(B, 1100, WORD);
	begin_wait(C, 1110, LOCK);
	enter(A, 0, 1200, WORD, WAKE, 1);
	waits_waking(&w, A, C);
	waits_waking(&w, A, B);
	waits_leave(&w, A, 0, 1220, 1);
	assert_int_equal(word_at(WORD)->woken, 1);
	assert_int_equal(word_at(LOCK)->woken, 0);
}

FIXTURE_TEST(a_call_that_wakes_all)
{
	begin_wait(B, 1100, WORD);
	begin_wait(C, 1110, WORD);
	enter(A, 0, 1200, WORD, WAKE, INT32_MAX);
	waits_waking(&w, A, B);
	waits_waking(&w, A, C);
	waits_leave(&w, A, 0, 1220, 2);
	assert_int_equal(word_at(WORD)->wakes, 1);
	assert_int_equal(word_at(WORD)->woken, 2);
	assert_int_equal(word_at(WORD)->ones, 0);
}

FIXTURE_TEST(values)
{
	static const uint32_t counter[] = { UINT32_MAX - 1, UINT32_MAX, 0, 3 };

	for (size_t i = 0; i < COUNT_OF(counter); i++) {
		enter(B, 1, 1100 + i, WORD, WAIT, counter[i]);
		waits_leave(&w, B, 1, 1101 + i, -11);
	}
	assert_int_equal(word_at(WORD)->changes, 3);
	assert_int_equal(word_at(WORD)->falls, 0);
	enter(B, 1, 1200, WORD, WAIT, 1);
	assert_int_equal(word_at(WORD)->falls, 1);
	assert_int_equal(word_at(WORD)->first, UINT32_MAX - 1);
	assert_int_equal(word_at(WORD)->last, 1);
}

/* Between two stretches a wait goes on, unless an event shows that it did not. */
FIXTURE_TEST(a_wait_over_a_pause)
{
	begin_wait(B, 1100, WORD);
	begin_wait(C, 1100, WORD);
	waits_end(&w, 2000);
	waits_begin(&w, 5000);
	wake(A, B, 5200, WORD);
	waits_leave(&w, B, 1, 5250, 0);
	begin_wait(C, 5300, LOCK);
	waits_end(&w, 6000);
	assert_int_equal(part_of(word_at(WORD), B)->wait_ns, 900 + 250);
	assert_int_equal(part_of(word_at(WORD), C)->wait_ns, 900);
	assert_int_equal(part_of(word_at(LOCK), C)->wait_ns, 700);
	assert_int_equal(waits_lived_ns(&w, B), 2000);
	assert_int_equal(w.recorded_ns, 2000);
}

/* What a thread waits for that began before, its waker says. */
FIXTURE_TEST(a_wait_from_before_the_recording)
{
	wake(A, B, 1200, WORD);
	waits_leave(&w, B, 1, 1250, 0);
	assert_int_equal(word_at(WORD)->taken, 1);
	assert_int_equal(word_at(WORD)->waits, 0);
	assert_int_equal(part_of(word_at(WORD), B)->wait_ns, 250);
	/* One that runs is not woken. */
	wake(A, B, 1300, LOCK);
	assert_null(word_at(LOCK));
}

FIXTURE_TEST(threads_that_begin_and_end)
{
	waits_thread(&w, STRANGER, STRANGER, 1500);
	waits_exit(&w, STRANGER, 1700);
	waits_exit(&w, A, 1400);
	waits_end(&w, 2000);
	assert_int_equal(waits_lived_ns(&w, STRANGER), 200);
	assert_int_equal(waits_lived_ns(&w, A), 400);
	assert_int_equal(waits_process(&w, B), PROCESS);
	assert_int_equal(w.count, 4);
}

FIXTURE_TEST(strangers_do_not_count)
{
	begin_wait(STRANGER, 1100, WORD);
	waits_leave(&w, STRANGER, 1, 1200, 0);
	waits_probe(&w, STRANGER, 0, LOCK, false);
	waits_exit(&w, STRANGER, 1300);
	assert_null(w.words);
}

/* The lock stands in the place of the waiter's word, over several waits for it. */
FIXTURE_TEST(a_lock_that_a_probe_tells)
{
	waits_probe(&w, B, 3, LOCK, false);
	begin_wait(B, 1100, WORD);
	wake(A, B, 1200, WORD);
	waits_leave(&w, B, 1, 1250, 0);
	begin_wait(B, 1260, WORD);
	assert_null(word_at(WORD));
	assert_int_equal(word_at(LOCK)->probe, 3);
	assert_int_equal(word_at(LOCK)->found_taken, 1);
	assert_int_equal(word_at(LOCK)->waits, 2);
	assert_int_equal(word_at(LOCK)->wakes, 1);
	assert_int_equal(word_at(LOCK)->in_vain, 1);
	assert_int_equal(part_of(word_at(LOCK), A)->wakes, 1);
	/* It has the lock when it wakes another thread. */
	waits_leave(&w, B, 1, 1300, 0);
	wake(B, C, 1310, WORD + 8);
	begin_wait(B, 1400, WORD);
	assert_int_equal(word_at(LOCK)->waits, 2);
	assert_int_equal(word_at(WORD)->waits, 1);
}

FIXTURE_TEST(a_thread_that_may_go_on_to_other_work_waits_for_the_lock_once)
{
	waits_probe(&w, B, 0, LOCK, true);
	begin_wait(B, 1100, WORD);
	waits_leave(&w, B, 1, 1150, 0);
	begin_wait(B, 1200, WORD);
	assert_int_equal(word_at(LOCK)->waits, 1);
	assert_int_equal(word_at(WORD)->waits, 1);
}

FIXTURE_TEST(many_words_and_threads)
{
	for (pid_t tid = 1000; tid < 1500; tid++) {
		waits_thread(&w, tid, PROCESS, 1100);
		begin_wait(tid, 1200, (uint64_t)tid * 8);
	}
	waits_end(&w, 2000);
	assert_int_equal(w.count, 503);
	assert_int_equal(part_of(word_at(1499 * 8), 1499)->wait_ns, 800);
	assert_false(w.out_of_memory);
}

RUN_TESTS(NULL, NULL)
