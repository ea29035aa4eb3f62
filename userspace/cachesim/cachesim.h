/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cachesim: a model of the caches and the snooping bus of a multiprocessor.
 *
 * The model is a library without I/O; the QEMU plugin drives it.
 * What it counts and what it leaves out: Documentation/cache-model.rst.
 *
 * The model:
 *
 *	cachesim.[ch]		the interface (this file), and how a model is built
 *	hierarchy.[ch]		accesses of a CPU, and coherence between CPUs
 *	hits.h			the shortest path of an access
 *	cache_array.h		one set-associative array of line tags and states
 *	line_directory.[ch]	the holders of each line
 *	bus.[ch]		when a bus is busy
 *	clock.[ch]		the parallel clock: whose turn it is, and what time
 *	machine_file.[ch]	machines, from files
 *	presets/		the machines that come with it
 *
 * Observers of the guest, which need no QEMU:
 *
 *	futexes.[ch]		futex system calls, by address
 *	handoffs.[ch]		hand-off latencies
 *	wakeups.[ch]		wake-up latencies
 *	latencies.[ch]		times, and their mean and percentiles
 *	locks.[ch]		locks that are handed over: hold times, times outside
 *	call_sites.[ch]		where programs take and release locks
 *	heaps.[ch]		where heaps begin
 *	allocators.[ch]		functions that allocate memory
 *	allocations.[ch]	what programs have allocated, and where
 *	attribution.[ch]	counts by instruction
 *	sharing.[ch]		lines that move between CPUs, and whether they need to
 *	document.[ch]		the JSON document of one region of interest
 *	options.[ch]		the plugin's arguments
 *	system_map.[ch]		the guest kernel's symbols
 *	array.h			an array that grows
 *
 * The QEMU plugin (plugin.c shows how its parts belong together):
 *
 *	plugin.c		installs it
 *	simulation.[ch]		the state that its parts share
 *	qemu_plugin_api.h	the used subset of QEMU's plugin interface
 *	qemu_callbacks.[ch]	QEMU's events, for each version of that interface
 *	instructions.[ch]	the guest's instructions
 *	registers.[ch]		the guest's registers and memory
 *	vcpu.[ch]		which vCPU executes
 *	guest_time.[ch]		the clock in the guest
 *	guest_kernel.[ch]	the guest kernel's symbols, and its wake-ups
 *	system_calls.[ch]	system calls of programs
 *	lock_watch.[ch]		locks.h to allocations.h together
 *	attributing.[ch]	attribution.h and allocators.h for blocks of code
 *	blocks.[ch]		blocks of code
 *	translation.[ch]	requests for the code that QEMU translates
 *	pages.[ch]		where pages are in physical memory
 *	execution.[ch]		blocks that are executed
 *	accesses.[ch]		loads and stores
 *	region.[ch]		markers, and regions of interest
 *	pace.c			saves the host's time: a library of its own
 *
 * No function here is thread-safe: one model belongs to one thread.
 */
#ifndef CACHESIM_H
#define CACHESIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHESIM_MAX_CPUS 64u

/* Time inside the model is counted in hundredths of a cycle: a CPI need not be whole. */
#define CACHESIM_CYCLE 100u

/*
 * PAUSE takes this many cycles at least. QEMU gives every vCPU a turn after each PAUSE, and a turn
 * is one block at least: with less, that work alone would take longer than the PAUSE.
 */
#define CACHESIM_LEAST_PAUSE 10u

/* Hundredths of a cycle that an instruction of a program takes at most, without misses. */
#define CACHESIM_MOST_CPI 600u

/* Bytes of a machine's name, with its terminating zero. */
#define CACHESIM_NAME_SIZE 32

/* Physical addresses are taken modulo 2^CACHESIM_PHYS_BITS. */
#define CACHESIM_PHYS_BITS 40

enum cachesim_write_policy {
	CACHESIM_WRITE_BACK,	/* a store allocates the line and stays here */
	CACHESIM_WRITE_THROUGH,	/* a store goes on to the next level and allocates nothing */
};

enum cachesim_replacement {
	CACHESIM_LRU,	/* the line used longest ago leaves */
	CACHESIM_FIFO,	/* the line filled longest ago leaves */
};

/* One cache. Sizes are bytes. */
struct cachesim_level {
	uint32_t size;
	uint32_t ways;
	uint32_t line;
	enum cachesim_write_policy write;
	enum cachesim_replacement replacement;
	bool shared;	/* by the CPUs of a cluster; else private to a CPU. Only an L3 can be */
};

/* Cycles that an event adds to those of the levels before it. */
struct cachesim_latency {
	uint32_t l2;		/* an L1 miss asks the L2 */
	uint32_t l3;		/* the L2 asks the L3 */
	uint32_t transfer;	/* a shared L3 asks the L2 of another CPU, which has the line Modified */
	uint32_t next_transfer;	/* where misses overlap: from a line that comes so to the next */
	uint32_t memory;	/* an L3 miss answered by memory */
	uint32_t remote_memory;	/* an L3 miss answered by another node's memory */
	uint32_t cache_to_cache; /* an L3 miss answered by another hierarchy's cache */
	uint32_t upgrade;	/* the bus invalidates other copies, no data moves */
};

/*
 * A machine. Its CPUs, in order, form clusters: either as many as `clusters` says,
 * as equal in size as can be, or of `cluster_cpus` CPUs each, as many as it takes; the other of
 * the two is 0. The CPUs of a cluster share an L3 that is `shared`, and the bus.
 */
struct cachesim_machine {
	char name[CACHESIM_NAME_SIZE];
	uint32_t mhz;		/* the CPUs' frequency: cycles of a microsecond */
	/* Hundredths of a cycle that an instruction takes without misses: a program's, */
	uint32_t cpi;
	uint32_t kernel_cpi;	/* and the kernel's, which is no less */
	uint32_t overlap;	/* misses of a CPU that are under way at once, at most; 1: no overlap */
	uint32_t overlap_window; /* instructions from the first of them to the last, at most */
	uint32_t clusters;
	uint32_t cluster_cpus;
	struct cachesim_level l1i, l1d, l2, l3;
	bool migratory;		/* a load takes a line that another CPU has Modified from there */
	struct cachesim_latency latency;
	uint32_t bus;		/* cycles for which a line that is moved occupies the bus; 0: none */
	/* Cycles; the model itself makes no use of what follows. */
	uint32_t pause;		/* of PAUSE */
	uint32_t context_switch; /* of a switch of threads, beside its instructions' */
	uint32_t wakeup;	/* leaving the idle state, with the interrupt that ends it */
	uint32_t interrupt;	/* until another CPU's interrupt arrives at a busy CPU */
};

/* Whose work an access is. */
enum cachesim_mode {
	CACHESIM_USER,
	CACHESIM_KERNEL,
	CACHESIM_IDLE,
	CACHESIM_MODES
};

/*
 * Everything that an access causes is charged to the CPU and mode that made it. All counters
 * are of one type: cachesim_add() takes them for an array.
 */
struct cachesim_counts {
	uint64_t instructions;
	uint64_t l1i_references;
	uint64_t l1i_misses;
	uint64_t l1d_references;
	uint64_t l1d_misses;
	uint64_t l2_references;
	uint64_t l2_misses;
	uint64_t l3_references;
	uint64_t l3_misses;
	uint64_t bus_requests;	 /* the paper's BUS_ALL_SELF, section 3.1 */
	uint64_t cache_to_cache; /* L3 misses answered by a modified line elsewhere */
	uint64_t remote_memory;	 /* L3 misses answered by another node's memory */
	uint64_t invalidations;	 /* copies elsewhere that an access here removed */
	uint64_t writebacks;	 /* modified lines evicted to memory */
	/* Time, in hundredths of a cycle. */
	uint64_t cycles;	 /* instructions * their CPI + cachesim_spend() + stall_cycles */
	uint64_t stall_cycles;	 /* waiting for what the L1s did not have */
	uint64_t bus_wait_cycles; /* of these, because the bus was busy */
};

struct cachesim;

/*
 * A model of `machine` with `cpus` CPUs, all caches empty, all counts zero.
 * On failure NULL, and *error says what is wrong with the machine.
 * `machine` is copied.
 */
struct cachesim *cachesim_new(const struct cachesim_machine *machine, unsigned int cpus,
			      const char **error);

/*
 * From now on each cluster that has CPUs is a NUMA node with `bytes`, more than 0, of
 * physical memory: the first from address 0 on, the next what follows. What lies beyond
 * the last one's is the last one's, too. Without this call there is one node.
 * Returns NULL or, with nothing changed, what is wrong with the machine.
 */
const char *cachesim_set_node_memory(struct cachesim *cs, uint64_t bytes);

/* `cs` may be NULL. */
void cachesim_free(struct cachesim *cs);

/* Zero all counts; the caches keep their lines, and the clocks go on. */
void cachesim_zero_counts(struct cachesim *cs);

/* Bytes of an L1I line, as a power of two. */
unsigned int cachesim_fetch_shift(const struct cachesim *cs);

/*
 * `cpu` executes `instructions` instructions in `mode`, fetched from the `n`
 * lines `lines` (physical address >> cachesim_fetch_shift()): one L1I reference
 * each. Loads and stores of this CPU belong to `mode` until its next call.
 */
void cachesim_execute(struct cachesim *cs, unsigned int cpu, enum cachesim_mode mode,
		      unsigned int instructions, const uint64_t *lines, unsigned int n);

/*
 * `cpu` loads or stores `size` bytes at physical address `phys`: one L1D
 * reference for each line that the access touches.
 */
void cachesim_load(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size);
void cachesim_store(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size);

/*
 * The same for a locked instruction: no miss before its load or after its store is under way with
 * theirs.
 */
void cachesim_locked_load(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size);
void cachesim_locked_store(struct cachesim *cs, unsigned int cpu, uint64_t phys, unsigned int size);

/* Has the last load of `cpu` missed? */
bool cachesim_missed(const struct cachesim *cs, unsigned int cpu);

/*
 * What that brings is `value`. Where misses overlap, it may be a pointer: a miss at a virtual
 * address (hits_at()) near it, which the pointer tells, waits for it.
 */
void cachesim_loaded(struct cachesim *cs, unsigned int cpu, uint64_t value);

/*
 * How many cycles a locked instruction of `cpu` would wait for its line: 0 if the CPU may write it
 * already.
 */
unsigned int cachesim_lock_delay(const struct cachesim *cs, unsigned int cpu, uint64_t phys);

/*
 * What `cpu` has executed last takes `cycles` more than its instructions do. They count in its mode.
 */
void cachesim_spend(struct cachesim *cs, unsigned int cpu, unsigned int cycles);

unsigned int cachesim_cpus(const struct cachesim *cs);
const struct cachesim_machine *cachesim_machine(const struct cachesim *cs);
bool cachesim_has_nodes(const struct cachesim *cs);
const struct cachesim_counts *cachesim_counts(const struct cachesim *cs, unsigned int cpu,
					      enum cachesim_mode mode);

/* *sum += *counts - *before, for every counter. */
void cachesim_add(struct cachesim_counts *sum, const struct cachesim_counts *counts,
		  const struct cachesim_counts *before);

/*
 * The CPUs' local clocks, by CPU, in hundredths of a cycle; they belong to the model
 * and live as long. Whatever a CPU executes, idle or not, moves its clock on as it
 * happens. The caller may move a clock on, too, never back: a CPU that waits.
 */
uint64_t *cachesim_clocks(struct cachesim *cs);

/* MESI states, and where a copy can be looked at (for tests). */
enum cachesim_state { CACHESIM_I, CACHESIM_S, CACHESIM_E, CACHESIM_M };
enum cachesim_where { CACHESIM_L1I, CACHESIM_L1D, CACHESIM_L2, CACHESIM_L3 };

/* The state of the line that holds `phys` in one of `cpu`'s caches. Changes nothing. */
enum cachesim_state cachesim_state(const struct cachesim *cs, unsigned int cpu,
				   enum cachesim_where where, uint64_t phys);

#endif
