// SPDX-License-Identifier: GPL-2.0
#include "guest_time.h"

#include <string.h>

#include "guest_kernel.h"
#include "instructions.h"
#include "pace.h"
#include "registers.h"
#include "simulation.h"

struct guest_time guest_time;

/* The QEMUs, 9.2 to 10.0, of which it is known what a kick does. */
#define KICKS_WITH_API 4

bool guest_time_open(int api)
{
	memset(&guest_time, 0, sizeof(guest_time));
	guest_time.kicks = api == KICKS_WITH_API && qemu_get_cpu && qemu_cpu_kick && cpu_exit;
	guest_time.control = qemu_plugin_request_time_control();
	return guest_time.control;
}

static void tell_pace(void)
{
	if (&pace_turns)
		pace_turns++;
}

void guest_time_begin(void)
{
	clock_start(&guest_time.clock, &sim.options.machine, cachesim_clocks(sim.model), sim.cpus,
		    sim.options.quantum);
	tell_pace();
}

void guest_time_turn_begins(void)
{
	if (guest_time.kicked)
		cpu_exit(guest_time.kicked);
	guest_time.kicked = NULL;
	guest_time.turn_over = false;
	tell_pace();
}

/* The state that env lies in is the last that begins before it. */
static struct qemu_cpu *find_cpu(uintptr_t env)
{
	struct qemu_cpu *found = NULL;

	for (unsigned int vcpu = 0; vcpu <= sim.cpus; vcpu++) {
		struct qemu_cpu *cpu = qemu_get_cpu((int)vcpu);

		if ((uintptr_t)cpu <= env && cpu > found)
			found = cpu;
	}
	return found;
}

static struct qemu_cpu *running(void)
{
	struct qemu_cpu **cpu = &guest_time.cpus[vcpu.number];

	if (!*cpu)
		*cpu = find_cpu(vcpu.env);
	return *cpu;
}

/*
 * The request for the clock does not move it: QEMU's counts instructions. But it ends the turn, by
 * a kick of all vCPUs, and another one when the turn is over. Both wake QEMU's other threads, too.
 * Where QEMU exports the kick, the plugin kicks, and no thread wakes. Of the second kick only the
 * vCPU that has left its turn has need (guest_time_turn_begins()).
 */
void guest_time_end_turn(void)
{
	if (guest_time.turn_over)
		return;
	guest_time.turn_over = true;
	guest_time.kicked = guest_time.kicks ? running() : NULL;
	if (guest_time.kicked)
		qemu_cpu_kick(guest_time.kicked);
	else
		qemu_plugin_update_ns(guest_time.control, 0);
}

/* The guest kernel's array, by CPU, which its scheduler's clock adds to the TSC. */
static void tell_scheduler(void)
{
	uint64_t *ahead = guest_kernel_data(kernel_address(SCHED_CLOCK_AHEAD));

	if (ahead)
		ahead[vcpu.number] = clock_ahead(&guest_time.clock, vcpu.number);
}

/*
 * A block that faults before the instruction does not get here. The instruction ends its block, so
 * all instructions that have been counted have been executed.
 */
static void on_rdtsc(unsigned int passed, void *userdata)
{
	(void)passed;
	(void)userdata;
	tell_scheduler();
	/* Once a quantum is enough. */
	if (guest_time.tsc.read || guest_time.tsc.checked == guest_time.clock.end)
		return;
	guest_time.tsc.read = true;
	guest_time.tsc.vcpu = vcpu.number;
	guest_time.tsc.executed = guest_time.clock.executed;
	guest_time.tsc.checked = guest_time.clock.end;
}

void guest_time_watch(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_rdtsc, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

void guest_time_check_tsc(void)
{
	uint64_t tsc = register_read(REGISTER_RDX) << 32 |
		       (register_read(REGISTER_RAX) & 0xffffffff);

	clock_correct(&guest_time.clock, guest_time.tsc.executed, tsc);
	guest_time.tsc.read = false;
}

uint64_t guest_time_ns(void)
{
	return guest_time_now() * (1000 / CACHESIM_CYCLE) / sim.options.machine.mhz;
}
