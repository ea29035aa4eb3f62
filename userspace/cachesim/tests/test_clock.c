// SPDX-License-Identifier: GPL-2.0
/*
 * The parallel clock without QEMU: a scheduler in miniature gives the CPUs and the burner
 * turns as QEMU does, and executes blocks of made-up programs.
 */
#include "test_machine.h"

#include <string.h>

#include "clock.h"

#define QUANTUM 1000u
#define BLOCK 10u	/* instructions */
#define BURNT CLOCK_BURNER_BLOCK
#define PAUSE 40u	/* cycles */

/* What a CPU executes next. */
struct program {
	unsigned int stall;	/* hundredths of a cycle, with every block */
	unsigned int spin;	/* blocks after which each ends in a PAUSE; 0: none does */
	enum clock_doing doing;
};

static struct parallel_clock clk;
static uint64_t local[CACHESIM_MAX_CPUS];
static struct program programs[CACHESIM_MAX_CPUS];
static uint64_t blocks[CACHESIM_MAX_CPUS];

static void begin_quanta(unsigned int cpus, unsigned int cpi, unsigned int quantum)
{
	struct cachesim_machine machine = { .cpi = cpi };

	memset(programs, 0, sizeof(programs));
	memset(blocks, 0, sizeof(blocks));
	memset(local, 0xff, sizeof(local));
	clock_start(&clk, &machine, local, cpus, quantum);
}

static void begin(unsigned int cpus, unsigned int cpi)
{
	begin_quanta(cpus, cpi, QUANTUM);
}

/* One block of `cpu`; true when its turn is over. */
static bool block_of(unsigned int cpu, unsigned int cpi)
{
	const struct program *p = &programs[cpu];

	blocks[cpu]++;
	if (p->doing == CLOCK_WORKS)
		local[cpu] += BLOCK * cpi + p->stall;
	if (p->spin && blocks[cpu] > p->spin) {
		clock_executed(&clk, cpu, BLOCK, p->doing);
		local[cpu] += PAUSE * CACHESIM_CYCLE;
		clock_pause(&clk, cpu);
		return true;
	}
	/* The idle loop ends its turn by itself. */
	return clock_executed(&clk, cpu, BLOCK, p->doing) ||
	       p->doing != CLOCK_WORKS;
}

/* Every CPU and the burner have a turn of at most `most` blocks. */
static void round_of_turns(unsigned int cpi, unsigned int most)
{
	unsigned int n;

	for (unsigned int cpu = 0; cpu < clk.cpus; cpu++)
		for (n = 0; n < most && !block_of(cpu, cpi); n++)
			;
	for (n = 0; n < most && !clock_burnt(&clk, most * BLOCK < BURNT ? BLOCK : BURNT); n++)
		;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* What the guest's TSC says, in hundredths of a cycle. */
static uint64_t guest_time(void)
{
	return clk.executed * CACHESIM_CYCLE / clk.rate;
}

TEST(test_rate_is_what_all_execute_in_a_cycle)
{
	assert_int_equal(clock_rate(1, 100), 2);
	assert_int_equal(clock_rate(4, 100), 5);
	assert_int_equal(clock_rate(4, 50), 10);
	assert_int_equal(clock_rate(64, 50), 130);
	/* Rounded up: what the CPUs and the burner execute at least must fit. */
	assert_int_equal(clock_rate(4, 75), 7);
	assert_int_equal(clock_rate(1, 75), 3);
}

/*
 * Where not all CPUs compute one does, one misses, one spins, the rest idle. A stall is shorter
 * than a quantum: in each a CPU has a turn.
 */
static void run_quanta(unsigned int cpus, unsigned int cpi, unsigned int quantum, bool all_compute)
{
	begin_quanta(cpus, cpi, quantum);
	for (unsigned int cpu = 0; cpu < cpus && !all_compute; cpu++)
		programs[cpu] = (struct program) {
			.stall = cpu == 1 ? clk.quantum / 5 : 0,
			.spin = cpu == 2 ? 1 : 0,
			.doing = cpu > 2 ? CLOCK_IDLES : CLOCK_WORKS,
		};
	for (int n = 0; n < 1000000 && clk.end <= 2000 * clk.quantum; n++)
		round_of_turns(cpi, 100000);
}

TEST(test_guest_time_is_modelled_time)
{
	static const unsigned int cpus[] = { 1, 2, 4, 16, 64 }, cpis[] = { 100, 50, 75, 300 };

	for (int i = 0; i < 5 * 4 * 4; i++) {
		unsigned int n = cpus[i / 16], cpi = cpis[i / 4 % 4];

		run_quanta(n, cpi, i % 2 ? QUANTUM : CLOCK_MIN_QUANTUM, i / 2 % 2);
		assert_true(clk.end > 2000 * clk.quantum);
		assert_true(difference(guest_time(), clk.end - clk.quantum) < clk.quantum);
		for (unsigned int cpu = 0; cpu < n; cpu++)
			assert_true(difference(local[cpu], clk.end) <= 2 * clk.quantum);
	}
}

/* QEMU ends turns at any block: near a timer's deadline they are of a few instructions. */
TEST(test_short_turns_change_no_time)
{
	begin(4, 100);
	for (int n = 0; n < 100000; n++)
		round_of_turns(100, 1 + n % 7);
	assert_true(clk.end > 100ull * clk.quantum);
	assert_true(difference(guest_time(), clk.end) <= 2 * clk.quantum);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_true(difference(local[cpu], clk.end) <= 2 * clk.quantum);
}

TEST(test_a_turn_ends_with_the_quantum)
{
	unsigned int n;

	begin(2, 100);
	for (n = 1; !block_of(0, 100); n++)
		;
	assert_int_equal(n, QUANTUM / BLOCK);
	/* The burner cannot pay while another has not run. */
	assert_true(clock_burnt(&clk, BURNT));
	assert_int_equal(clk.end, clk.quantum);
	for (n = 1; !block_of(1, 100); n++)
		;
	assert_int_equal(n, QUANTUM / BLOCK);
	/* Two CPUs without a miss have executed what three could, but for the burner's share. */
	for (n = 2; !clock_burnt(&clk, BURNT); n++)
		assert_int_equal(clk.end, clk.quantum);
	assert_int_equal(n, (QUANTUM + BURNT - 1) / BURNT);
	assert_int_equal(clk.end, 2 * clk.quantum);
}

/* A CPU whose next thread is to end the spinning gets there as soon as on a real machine. */
TEST(test_a_pause_takes_what_it_takes)
{
	unsigned int n;

	begin(2, 100);
	programs[0].spin = 1;
	programs[1].doing = CLOCK_IDLES;
	block_of(0, 100);
	for (n = 1; local[0] < clk.end; n++) {
		assert_true(block_of(0, 100));
		assert_int_equal(local[0], (n * (BLOCK + PAUSE) + BLOCK) * CACHESIM_CYCLE);
		block_of(1, 100);
		clock_burnt(&clk, BURNT);
		assert_int_equal(clk.end, clk.quantum);
	}
	assert_int_equal(n, 1 + QUANTUM / (BLOCK + PAUSE));
}

/* A turn is a block at least: one that takes longer than a PAUSE would run away from it. */
TEST(test_a_pause_takes_as_long_as_the_block_that_it_costs)
{
	begin(3, 100);
	programs[0].spin = 1;
	programs[1].stall = 7 * PAUSE * CACHESIM_CYCLE;
	programs[2].doing = CLOCK_IDLES;
	for (unsigned int n = 0; n < 10000; n++)
		round_of_turns(100, 1000);
	assert_true(local[1] > 10000 * PAUSE * CACHESIM_CYCLE);
	assert_true(difference(local[0], local[1]) <= clk.quantum);
	/* A charge is no block's. */
	clock_charge(&clk, 1, 50 * QUANTUM);
	round_of_turns(100, 1);
	round_of_turns(100, 1);
	assert_true(difference(local[0], local[1]) > 40 * clk.quantum);
}

TEST(test_no_turn_goes_beyond_a_cpu_that_spins)
{
	begin(3, 100);
	programs[0].spin = 2;
	programs[2].doing = CLOCK_IDLES;
	for (unsigned int n = 0; n < 3; n++)
		block_of(0, 100);
	assert_int_equal(local[0], (3 * BLOCK + PAUSE) * CACHESIM_CYCLE);
	while (!block_of(1, 100))
		;
	assert_int_equal(local[1], local[0]);
	/* It is there already: a turn is a block at least. */
	block_of(2, 100);
	clock_burnt(&clk, BURNT);
	assert_true(block_of(1, 100));
	assert_int_equal(local[1], local[0] + BLOCK * CACHESIM_CYCLE);
	/* And neither does that of a CPU that spins, too. */
	block_of(0, 100);
	programs[1].spin = 1;
	assert_true(local[0] > local[1]);
	assert_true(block_of(1, 100));
	programs[0].spin = 0;
	while (!block_of(0, 100))
		;
	assert_int_equal(local[0], local[1]);
}

TEST(test_locked_instructions_are_in_order)
{
	begin(3, 100);
	programs[2].doing = CLOCK_IDLES;
	block_of(2, 100);
	block_of(0, 100);
	block_of(0, 100);
	/* CPU 1 is behind; its turn goes up to there. */
	assert_true(clock_locks(&clk, 0, 0));
	while (!block_of(1, 100))
		;
	assert_int_equal(local[1], local[0]);
	/* It may be first with an instruction of the same time, but not with a later one. */
	assert_false(clock_locks(&clk, 1, 0));
	assert_true(clock_locks(&clk, 1, 1));
	/* When CPU 0 has executed its own, it goes up to that of CPU 1. */
	while (!block_of(0, 100))
		;
	assert_int_equal(local[0], local[1] + BLOCK * CACHESIM_CYCLE);
	while (!block_of(1, 100))
		;
	assert_true(local[1] >= clk.end);
}

/* Its line is on its way: what the other CPU does meanwhile comes first, past the quantum's end. */
TEST(test_a_locked_instruction_happens_when_its_line_is_there)
{
	begin(2, 100);
	block_of(0, 100);
	assert_true(clock_locks(&clk, 0, QUANTUM));
	while (!block_of(1, 100))
		;
	assert_int_equal(local[1], local[0] + clk.quantum);
	assert_false(clock_locks(&clk, 0, QUANTUM));
}

TEST(test_spinning_is_over_after_a_while)
{
	begin_quanta(2, 100, 4 * CLOCK_SPIN);
	programs[0].spin = 1;
	block_of(0, 100);
	block_of(0, 100);
	programs[0].spin = 0;
	while (local[0] < clk.spins[0])
		block_of(0, 100);
	while (!block_of(1, 100))
		;
	assert_true(local[1] >= clk.end);
	/* An idle CPU does not spin, whatever its clock says. */
	begin(2, 100);
	programs[1].spin = 1;
	block_of(1, 100);
	block_of(1, 100);
	programs[1].doing = CLOCK_IDLES;
	block_of(1, 100);
	clk.end += clk.quantum;
	while (!block_of(0, 100))
		;
	assert_true(local[0] >= clk.end);
}

/* How often a CPU executes PAUSE until another one has got on so far does not hang on the quantum. */
TEST(test_a_spinning_cpu_sees_in_time_what_ends_it)
{
	const uint64_t far = 50000 * CACHESIM_CYCLE;

	for (unsigned int quantum = 500; quantum <= 4000; quantum *= 2) {
		unsigned int expected = 50000 / (BLOCK + PAUSE);

		for (unsigned int spins = 0; spins < 2; spins++) {
			begin_quanta(3, 100, quantum);
			programs[spins].spin = 1;
			programs[2].doing = CLOCK_IDLES;
			while (local[!spins] < far)
				round_of_turns(100, 1000);
			assert_true(difference(blocks[spins], expected) <= expected / 50);
		}
	}
}

TEST(test_a_stall_sits_out_quanta)
{
	uint64_t before;

	begin(2, 100);
	programs[0].stall = 5 * QUANTUM * CACHESIM_CYCLE;
	assert_true(block_of(0, 100));
	before = blocks[0];
	programs[0].stall = 0;
	while (clk.end < local[0]) {
		for (unsigned int n = 0; n < 1000 && !block_of(1, 100); n++)
			;
		while (!clock_burnt(&clk, BURNT))
			;
	}
	assert_int_equal(blocks[0], before);
	assert_true(blocks[1] >= 4 * QUANTUM / BLOCK);
}

TEST(test_who_is_charged_stands_still)
{
	uint64_t due;

	begin(2, 100);
	programs[0].doing = CLOCK_IDLES;
	programs[1].doing = CLOCK_IDLES;
	round_of_turns(100, 1);
	programs[1].doing = CLOCK_WORKS;
	clock_charge(&clk, 1, 50 * QUANTUM);
	due = local[1] + BLOCK * CACHESIM_CYCLE;
	assert_true(due >= 50 * clk.quantum);
	assert_true(block_of(1, 100));
	programs[1].doing = CLOCK_WAITS;
	block_of(1, 100);
	/* The rest of the wait's text looks idle. */
	programs[1].doing = CLOCK_IDLES;
	while (clk.end <= due) {
		round_of_turns(100, 1);
		assert_int_equal(local[1], due);
	}
	/* It has a turn in the quantum in which it is due. */
	assert_true(clk.end - clk.quantum <= due);
	programs[1].doing = CLOCK_WORKS;
	block_of(1, 100);
	assert_int_equal(local[1], due + BLOCK * CACHESIM_CYCLE);
	/* A CPU that has worked is idle again in the idle loop. */
	programs[1].doing = CLOCK_IDLES;
	block_of(1, 100);
	assert_int_equal(local[1], clk.end);
}

TEST(test_time_passes_while_all_are_idle)
{
	unsigned int n;

	begin(4, 100);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		programs[cpu].doing = CLOCK_IDLES;
	round_of_turns(100, 1000);
	/* All CPUs are idle: the burner goes on without a turn of theirs. */
	for (n = 0; n < 10000; n++)
		assert_false(clock_burnt(&clk, BURNT));
	assert_true(difference(guest_time(), clk.end) <= clk.quantum);
}

/* Many quanta passed; the woken CPU's clock is not of the time when it was last asked. */
TEST(test_who_has_idled_for_long_wakes_in_the_present)
{
	begin(2, 100);
	programs[0].doing = CLOCK_IDLES;
	programs[1].doing = CLOCK_IDLES;
	round_of_turns(100, 1000);
	for (unsigned int n = 0; n < 100000; n++)
		assert_false(clock_burnt(&clk, BURNT));
	assert_true(clk.end > 100 * clk.quantum);
	programs[1].doing = CLOCK_WORKS;
	block_of(1, 100);
	assert_int_equal(local[1], clk.end - clk.quantum);
	assert_true(difference(guest_time(), local[1]) <= clk.quantum);
}

/* What was done in a quantum may wake an idle CPU, so all get a turn before time goes on. */
TEST(test_idle_cpus_are_asked_after_something_happened)
{
	begin(2, 100);
	programs[0].doing = CLOCK_IDLES;
	programs[1].stall = 20 * QUANTUM * CACHESIM_CYCLE;
	block_of(0, 100);
	block_of(1, 100);
	while (!clock_burnt(&clk, BURNT))
		;
	assert_int_equal(clk.end, 2 * clk.quantum);
}

/* QEMU leaves blocks in their midst; what the guest reads of its clock makes up for it. */
TEST(test_the_guests_reading_corrects_the_count)
{
	uint64_t wrong = 0, true_ns;

	begin(2, 100);
	for (unsigned int n = 0; n < 1000; n++) {
		round_of_turns(100, 1000);
		if (n == 500)
			wrong = 7 * BLOCK;
		/* The machine was started 123456 ns before. */
		true_ns = 123456 + clk.executed - wrong;
		clock_correct(&clk, clk.executed, true_ns);
		assert_int_equal(clk.executed, true_ns - 123456);
		wrong = 0;
	}
	/* A reading that is looked at after more has been executed. */
	true_ns = 123456 + clk.executed;
	clk.executed += 1000;
	clock_correct(&clk, clk.executed - 1000, true_ns - 30);
	assert_int_equal(clk.executed, true_ns - 123456 + 1000 - 30);
}

TEST(test_a_dead_burner_is_noticed)
{
	begin(2, 100);
	for (unsigned int n = 0; n < CLOCK_BURNER_PATIENCE; n++) {
		block_of(0, 100);
		block_of(1, 100);
		if (n % 1000 == 0)
			clock_burnt(&clk, BURNT);
	}
	assert_false(clock_stands(&clk));
	for (unsigned int n = 0; n < CLOCK_BURNER_PATIENCE; n++) {
		block_of(0, 100);
		block_of(1, 100);
	}
	assert_true(clock_stands(&clk));
}

RUN_TESTS(NULL, NULL)
