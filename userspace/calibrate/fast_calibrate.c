// SPDX-License-Identifier: GPL-2.0
/*
 * fast-calibrate: the latencies of this machine's caches, its memory and hand-offs between
 * threads, as one JSON object. Each repetition measures everything once, so that a disturbance
 * affects all quantities.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate.h"
#include "machine.h"

#define EXIT_USAGE 2

#define DEFAULT_REPEAT 11
#define MAX_REPEAT 1000

#define MB ((size_t)1 << 20)
/* The size of lines, if the machine does not report it. */
#define COMMON_LINE 64
/* A working set of this size has hardly any line in a cache. */
#define BEYOND 4
#define LEAST_MEMORY (64 * MB)
/* The allocations take at most this part of the machine's memory. */
#define MEMORY_PART 4

/* The benchmarks compute for about this long between two hand-offs. */
#define SHORT_REST_NS 2000
#define LONG_REST_NS 1000000

enum quantity {
	FREQUENCY, CPI, REFUSED_WAIT, PAUSE,
	LATENCY_L1, LATENCY_L2, LATENCY_L3, LATENCY_MEMORY,
	CHASES_1, CHASES_2, CHASES_4, CHASES_8, CHASES_16,
	TRANSFER_NEAR, TRANSFER_FAR, TRANSFERS_1, TRANSFERS_16, RELOAD, INTERRUPT,
	HANDOFF_SAME_CPU, HANDOFF_OTHER_CPU, HANDOFF_IDLE_CPU,
	QUANTITIES
};

static const struct {
	const char *name, *unit;
} words[QUANTITIES] = {
	[FREQUENCY] = { "frequency", "MHz" },
	[CPI] = { "cpi", "cycles per instruction" },
	[REFUSED_WAIT] = { "refused_wait", "ns" },
	[PAUSE] = { "pause", "ns" },
	[LATENCY_L1] = { "latency_l1", "ns" },
	[LATENCY_L2] = { "latency_l2", "ns" },
	[LATENCY_L3] = { "latency_l3", "ns" },
	[LATENCY_MEMORY] = { "latency_memory", "ns" },
	[CHASES_1] = { "chases_1", "ns a load" },
	[CHASES_2] = { "chases_2", "ns a load" },
	[CHASES_4] = { "chases_4", "ns a load" },
	[CHASES_8] = { "chases_8", "ns a load" },
	[CHASES_16] = { "chases_16", "ns a load" },
	[TRANSFER_NEAR] = { "transfer_near", "ns" },
	[TRANSFER_FAR] = { "transfer_far", "ns" },
	[TRANSFERS_1] = { "transfers_1", "ns" },
	[TRANSFERS_16] = { "transfers_16", "ns" },
	[RELOAD] = { "reload", "ns a load" },
	[INTERRUPT] = { "interrupt", "ns" },
	[HANDOFF_SAME_CPU] = { "handoff_same_cpu", "ns" },
	[HANDOFF_OTHER_CPU] = { "handoff_other_cpu", "ns" },
	[HANDOFF_IDLE_CPU] = { "handoff_idle_cpu", "ns" },
};

/* `why_not` is NULL if the quantity can be measured. */
struct measured {
	const char *why_not;
	unsigned int bad;	/* measurements that failed */
	double values[MAX_REPEAT];
};

struct calibration {
	struct machine machine;
	unsigned int repeat;
	struct chase sets[LATENCY_MEMORY - LATENCY_L1 + 1];
	struct measured measured[QUANTITIES];
};

static const struct argp_option argp_options[] = {
	{ "repeat", 'r', "N", 0, "measure everything N times, 1 to 1000 (default 11)", 0 },
	{ 0 }
};

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	unsigned int *repeat = state->input;
	unsigned long value;
	char *end;

	switch (key) {
	case 'r':
		value = strtoul(arg, &end, 10);
		if (!isdigit((unsigned char)*arg) || *end || !value || value > MAX_REPEAT)
			argp_error(state, "--repeat %s: must be a whole number from 1 to %d", arg,
				   MAX_REPEAT);
		*repeat = (unsigned int)value;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: takes options only", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_key,
	.doc = "Measures the latencies of this machine's caches and memory, of a line on its way "
	       "from one CPU to another, and of futex calls and hand-offs, and prints all values as one JSON "
	       "object. A repetition takes half a second.\vThe machine should do nothing else "
	       "meanwhile. Only CPUs of the affinity mask are used.",
};

/*
 * The working set that a level answers: too large for the level below it, and well within its own
 * size, of which other programs may use a part. 0: none, with the reason.
 */
static size_t working_set(const struct machine *m, enum quantity level, const char **why_not)
{
	const struct cache *l1 = &m->caches[L1D], *l2 = &m->caches[L2], *l3 = &m->caches[L3];
	size_t memory = BEYOND * (l3->size ?: l2->size);

	if (memory < LEAST_MEMORY)
		memory = LEAST_MEMORY;
	*why_not = "the machine does not tell that it has such a cache";
	switch (level) {
	case LATENCY_L1:
		return l1->size / 2;
	case LATENCY_L2:
		return l2->size / 4;
	case LATENCY_L3:
		if (l3->size >= 4 * l2->size)
			return 2 * l2->size;
		if (l3->size)
			*why_not = "its L3 cache is hardly larger than its L2";
		return 0;
	default:
		*why_not = "the machine has too little memory beside its caches";
		return m->memory && memory > m->memory / MEMORY_PART ? 0 : memory;
	}
}

static void open_sets(struct calibration *c)
{
	unsigned int line = c->machine.caches[L1D].line ?: COMMON_LINE;

	for (enum quantity q = LATENCY_L1; q <= LATENCY_MEMORY; q++) {
		const char *why_not;
		size_t size = working_set(&c->machine, q, &why_not);

		if (size)
			chase_open(&c->sets[q - LATENCY_L1], size / line * line, line);
		else
			c->measured[q].why_not = why_not;
	}
	/* The level that answers a hand-off's data; memory if no cache is shared. */
	if (c->measured[LATENCY_L3].why_not)
		for (enum quantity q = CHASES_1; q <= CHASES_16; q++)
			c->measured[q].why_not = c->measured[LATENCY_MEMORY].why_not;
}

static void close_sets(struct calibration *c)
{
	for (enum quantity q = LATENCY_L1; q <= LATENCY_MEMORY; q++)
		if (!c->measured[q].why_not)
			chase_close(&c->sets[q - LATENCY_L1]);
}

static void find_missing(struct calibration *c)
{
	const struct machine *m = &c->machine;
	const char *alone = "its affinity mask allows one core only; it takes two";

	if (m->sibling == NO_CPU)
		c->measured[TRANSFER_NEAR].why_not = machine_other(m) == NO_CPU ? alone :
			"no two cores that it may use share a cache";
	if (m->stranger == NO_CPU)
		c->measured[TRANSFER_FAR].why_not = machine_other(m) == NO_CPU ? alone :
			"all cores that it may use share a cache";
	if (machine_other(m) == NO_CPU) {
		c->measured[TRANSFERS_1].why_not = alone;
		c->measured[TRANSFERS_16].why_not = alone;
		c->measured[RELOAD].why_not = alone;
		c->measured[INTERRUPT].why_not = alone;
		c->measured[HANDOFF_OTHER_CPU].why_not = alone;
		c->measured[HANDOFF_IDLE_CPU].why_not = alone;
	}
}

static double measure(struct calibration *c, enum quantity q, double mhz)
{
	const struct machine *m = &c->machine;
	enum quantity set = c->measured[LATENCY_L3].why_not ? LATENCY_MEMORY : LATENCY_L3;

	switch (q) {
	case FREQUENCY:
		return measure_frequency();
	case CPI:
		return measure_cpi(mhz);
	case REFUSED_WAIT:
		return measure_refused_wait();
	case PAUSE:
		return measure_pause();
	case LATENCY_L1 ... LATENCY_MEMORY:
		return measure_chases(&c->sets[q - LATENCY_L1], 1);
	case CHASES_1 ... CHASES_16:
		return measure_chases(&c->sets[set - LATENCY_L1], 1u << (q - CHASES_1));
	case TRANSFER_NEAR:
		return measure_transfer(m->cpu, m->sibling);
	case TRANSFER_FAR:
		return measure_transfer(m->cpu, m->stranger);
	case TRANSFERS_1:
		return measure_transfers(m->cpu, machine_other(m), 1);
	case TRANSFERS_16:
		return measure_transfers(m->cpu, machine_other(m), MOST_TRANSFERS);
	case RELOAD:
		return measure_reload(m->cpu, machine_other(m));
	case INTERRUPT:
		return measure_interrupt(m->cpu, machine_other(m));
	case HANDOFF_SAME_CPU:
		return measure_handoff(m->cpu, m->cpu, 0);
	case HANDOFF_OTHER_CPU:
		return measure_handoff(m->cpu, machine_other(m), SHORT_REST_NS);
	default:
		return measure_handoff(m->cpu, machine_other(m), LONG_REST_NS);
	}
}

/*
 * A measurement that fails is repeated in the same repetition, since the reader takes the frequency
 * from there. 0: more than half of all failed.
 */
static double measure_well(struct calibration *c, enum quantity q, double mhz)
{
	double value;

	do
		value = measure(c, q, mhz);
	while (value <= 0 && ++c->measured[q].bad <= c->repeat);
	return value;
}

static void repetition(struct calibration *c, unsigned int number)
{
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		struct measured *one = &c->measured[q];

		if (one->why_not)
			continue;
		one->values[number] = measure_well(c, q, c->measured[FREQUENCY].values[number]);
		if (one->values[number] <= 0)
			one->why_not = q == INTERRUPT ?
				"membarrier(2) is not available, or the other CPU is busy" :
				"the thread to be woken hardly ever slept";
	}
}

static void print_machine(const struct machine *m)
{
	static const char *const names[CACHES] = {
		[L1I] = "l1i", [L1D] = "l1d", [L2] = "l2", [L3] = "l3",
	};

	printf("{\"schema\":1,\"cpu\":\"");
	for (const char *c = m->cpu_name; *c; c++)
		printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	printf("\",\"cpus\":%u,\"caches\":{", m->cpus);
	for (unsigned int i = 0; i < CACHES; i++) {
		const struct cache *cache = &m->caches[i];

		printf("%s\"%s\":", i ? "," : "", names[i]);
		if (cache->size)
			printf("{\"size\":%zu,\"ways\":%d,\"line\":%u,\"cpus\":%u}", cache->size,
			       cache->ways, cache->line, cache->cpus);
		else
			printf("null");
	}
	printf("},");
}

static void print(const struct calibration *c)
{
	print_machine(&c->machine);
	printf("\"quantities\":{");
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		const struct measured *one = &c->measured[q];

		printf("%s\"%s\":{\"unit\":\"%s\",\"values\":", q ? "," : "", words[q].name,
		       words[q].unit);
		if (one->why_not) {
			printf("null,\"why_not\":\"%s\"}", one->why_not);
			continue;
		}
		for (unsigned int i = 0; i < c->repeat; i++)
			printf("%s%.4f", i ? "," : "[", one->values[i]);
		printf("],\"why_not\":null}");
	}
	printf("}}\n");
	if (fflush(stdout) || ferror(stdout))
		error(1, errno, "cannot write the result");
}

int main(int argc, char **argv)
{
	static struct calibration c = { .repeat = DEFAULT_REPEAT };

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &c.repeat);
	machine_look(&c.machine);
	pin(c.machine.cpu);
	find_missing(&c);
	open_sets(&c);
	for (unsigned int i = 0; i < c.repeat; i++)
		repetition(&c, i);
	print(&c);
	close_sets(&c);
	return 0;
}
