// SPDX-License-Identifier: GPL-2.0
/* The path from QEMU to the model is in this file, so that the compiler inlines it. */
#include "accesses.h"

#include <string.h>

#include "attributing.h"
#include "hits.h"
#include "instructions.h"
#include "pages.h"
#include "simulation.h"
#include "vcpu.h"

/* The place in its block of an instruction to which nothing is attributed. */
#define NO_PLACE (~0u)

/* Bytes that a processor moves at a time of the state that XSAVE and its like save. */
#define STATE_PIECE 16u

/* The kind of an access, and its index in on_accesses[]. */
enum access { LOAD, STORE, STATE_LOAD, STATE_STORE, LOCKED_LOAD, LOCKED_STORE };

static inline bool stores(enum access access)
{
	return access == STORE || access == STATE_STORE || access == LOCKED_STORE;
}

static enum qemu_plugin_mem_rw direction(enum access access)
{
	return stores(access) ? QEMU_PLUGIN_MEM_W : QEMU_PLUGIN_MEM_R;
}

static struct {
	uint64_t number;	/* of the STATE_PIECE bytes that were accessed last */
	bool stored;
} piece;

void accesses_reset(void)
{
	memset(&piece, 0, sizeof(piece));
	memset(block_locked, 0, sizeof(block_locked));
}

/* Finds the page of vaddr. Returns false if no memory is there. */
static __attribute__((noinline)) bool learn_page(struct page *page, qemu_plugin_meminfo_t info,
						 uint64_t vaddr)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return false;
	page->number = vaddr / GUEST_PAGE;
	page->start = qemu_plugin_hwaddr_phys_addr(hw) - (vaddr & (GUEST_PAGE - 1));
	return true;
}

/*
 * A load has not taken the path of a hit. Its value may be a pointer that later misses wait for, or
 * its line that of a lock.
 */
static __attribute__((noinline)) void look_at_load(unsigned int cpu, qemu_plugin_meminfo_t info,
						   uint64_t phys, unsigned int size)
{
	if (sim.options.machine.overlap == 1 || !cachesim_missed(sim.model, cpu))
		return;
	if (size == sizeof(uint64_t))
		cachesim_loaded(sim.model, cpu, qemu_plugin_mem_get_value(info).data.u64);
	if (block_last[cpu][0] && (phys ^ block_locked[cpu]) < sim.options.machine.l2.line)
		block_last[cpu][0]->took = true;
}

/* The access at vaddr lies in one page; `by` is the place of its instruction. */
static inline void access_page(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			       unsigned int size, enum access access, unsigned int by)
{
	bool store = stores(access);
	struct page *page = page_of(cpu, vaddr, store);
	uint64_t phys;

	if (__builtin_expect(page->number != vaddr / GUEST_PAGE, 0) &&
	    !learn_page(page, info, vaddr))
		return;
	phys = page->start + (vaddr & (GUEST_PAGE - 1));
	hits_at(sim.model, cpu, vaddr);
	switch (access) {
	case LOCKED_LOAD:
		block_locked[cpu] = phys;
		cachesim_locked_load(sim.model, cpu, phys, size);
		break;
	case LOCKED_STORE:
		cachesim_locked_store(sim.model, cpu, phys, size);
		break;
	case STORE:
	case STATE_STORE:
		hits_store(sim.model, cpu, phys, size);
		break;
	default:
		if (!hits_load(sim.model, cpu, phys, size))
			look_at_load(cpu, info, phys, size);
	}
	if (by != NO_PLACE)
		attributing_access(cpu, by, vaddr, phys, size, store);
}

/* What QEMU says of a kind of access is always the same, so it is asked once. */
static inline unsigned int size_of(qemu_plugin_meminfo_t info)
{
	static struct {
		qemu_plugin_meminfo_t info;
		unsigned int size;	/* 0: unknown */
	} known[64];
	unsigned int place = info % 64;

	if (__builtin_expect(known[place].info != info || !known[place].size, 0)) {
		known[place].info = info;
		known[place].size = 1u << qemu_plugin_mem_size_shift(info);
	}
	return known[place].size;
}

static inline void access_memory(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
				 enum access access, unsigned int by)
{
	unsigned int size = size_of(info);
	unsigned int here = GUEST_PAGE - (vaddr & (GUEST_PAGE - 1));

	if (__builtin_expect(size <= here, 1)) {
		access_page(cpu, info, vaddr, size, access, by);
		return;
	}
	access_page(cpu, info, vaddr, here, access, by);
	access_page(cpu, info, vaddr + here, size - here, access, by);
}

/* An access belongs to the block that on_block() saw last. */
static void on_load(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(vcpu.number, info, vaddr, LOAD, NO_PLACE);
}

static void on_store(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
		     void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(vcpu.number, info, vaddr, STORE, NO_PLACE);
}

/*
 * An access of an instruction that saves or restores the state of FPU and vectors. QEMU makes it in
 * parts, whose number depends on its version; here, as in hardware, 16 bytes are one access.
 */
static void access_state(qemu_plugin_meminfo_t info, uint64_t vaddr, bool store, unsigned int by)
{
	uint64_t number = vaddr / STATE_PIECE;

	if (number == piece.number && store == piece.stored)
		return;
	piece.number = number;
	piece.stored = store;
	access_memory(vcpu.number, info, vaddr, store ? STATE_STORE : STATE_LOAD, by);
}

static void on_state_load(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			  void *userdata)
{
	(void)passed;
	(void)userdata;
	access_state(info, vaddr, false, NO_PLACE);
}

static void on_state_store(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			   void *userdata)
{
	(void)passed;
	(void)userdata;
	access_state(info, vaddr, true, NO_PLACE);
}

static void on_locked_load(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			   void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(vcpu.number, info, vaddr, LOCKED_LOAD, NO_PLACE);
}

static void on_locked_store(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			    void *userdata)
{
	(void)passed;
	(void)userdata;
	access_memory(vcpu.number, info, vaddr, LOCKED_STORE, NO_PLACE);
}

static const qemu_plugin_vcpu_mem_cb_t on_accesses[] = {
	on_load, on_store, on_state_load, on_state_store, on_locked_load, on_locked_store,
};

/* With attribution, the last argument is the instruction's place in its block. */
__attribute__((used, visibility("hidden")))
void cachesim_load_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *place)
{
	(void)passed;
	access_memory(vcpu.number, info, vaddr, LOAD, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_store_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr, void *place)
{
	(void)passed;
	access_memory(vcpu.number, info, vaddr, STORE, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_state_load_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			    void *place)
{
	(void)passed;
	access_state(info, vaddr, false, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_state_store_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			     void *place)
{
	(void)passed;
	access_state(info, vaddr, true, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_locked_load_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			     void *place)
{
	(void)passed;
	access_memory(vcpu.number, info, vaddr, LOCKED_LOAD, (uintptr_t)place);
}

__attribute__((used, visibility("hidden")))
void cachesim_locked_store_by(unsigned int passed, qemu_plugin_meminfo_t info, uint64_t vaddr,
			      void *place)
{
	(void)passed;
	access_memory(vcpu.number, info, vaddr, LOCKED_STORE, (uintptr_t)place);
}

/*
 * QEMU cuts a block that makes too much code, and the L1I counts the second part anew. A block must
 * make as much code with attribution as without, so the callbacks get no argument here either: each
 * place has a callback of its own, which supplies it.
 */
#ifdef __x86_64__
#define PLACES 512u	/* most instructions of a block of QEMU */
#define PLACE_SIZE 16u
#define CALLBACKS(name, target)		\
	".balign 16\n"			\
	#name ":\n"			\
	".set place, 0\n"		\
	".rept 512\n"			\
	"	mov $place, %ecx\n"	\
	"	jmp " #target "\n"	\
	".balign 16\n"			\
	".set place, place + 1\n"	\
	".endr\n"
__asm__(".text\n" CALLBACKS(loads_by, cachesim_load_by) CALLBACKS(stores_by, cachesim_store_by)
	CALLBACKS(state_loads_by, cachesim_state_load_by)
	CALLBACKS(state_stores_by, cachesim_state_store_by)
	CALLBACKS(locked_loads_by, cachesim_locked_load_by)
	CALLBACKS(locked_stores_by, cachesim_locked_store_by));
extern const char loads_by[] __attribute__((visibility("hidden")));
extern const char stores_by[] __attribute__((visibility("hidden")));
extern const char state_loads_by[] __attribute__((visibility("hidden")));
extern const char state_stores_by[] __attribute__((visibility("hidden")));
extern const char locked_loads_by[] __attribute__((visibility("hidden")));
extern const char locked_stores_by[] __attribute__((visibility("hidden")));

static void watch_access_by(struct qemu_plugin_insn *insn, enum access access, size_t place)
{
	static const char *const callbacks[] = {
		loads_by, stores_by, state_loads_by, state_stores_by, locked_loads_by,
		locked_stores_by,
	};
	uintptr_t callback =
		(uintptr_t)callbacks[access] + (place < PLACES ? place : 0) * PLACE_SIZE;

	qemu_plugin_register_vcpu_mem_cb(insn, (qemu_plugin_vcpu_mem_cb_t)callback,
					 QEMU_PLUGIN_CB_NO_REGS, direction(access), NULL);
}
#else
static void watch_access_by(struct qemu_plugin_insn *insn, enum access access, size_t place)
{
	static const qemu_plugin_vcpu_mem_cb_t callbacks[] = {
		cachesim_load_by, cachesim_store_by, cachesim_state_load_by,
		cachesim_state_store_by, cachesim_locked_load_by, cachesim_locked_store_by,
	};

	qemu_plugin_register_vcpu_mem_cb(insn, callbacks[access], QEMU_PLUGIN_CB_NO_REGS,
					 direction(access), (void *)place);
}
#endif

static void watch_access(struct qemu_plugin_insn *insn, enum access access, const struct block *b,
			 size_t place)
{
	if (b->code)
		watch_access_by(insn, access, place);
	else
		qemu_plugin_register_vcpu_mem_cb(insn, on_accesses[access], QEMU_PLUGIN_CB_NO_REGS,
						 direction(access), NULL);
}

void accesses_watch(struct qemu_plugin_insn *insn, const struct block *b, size_t place)
{
	bool state = instruction_moves_state(insn), locked = instruction_is_locked(insn);

	watch_access(insn, state ? STATE_LOAD : locked ? LOCKED_LOAD : LOAD, b, place);
	watch_access(insn, state ? STATE_STORE : locked ? LOCKED_STORE : STORE, b, place);
}
